import WireJSON

/// Input: the text of a duration.
func fuzzDuration(_ input: [UInt8]) {
    guard let duration = try? DurationText.parse(input) else { return }
    require((0...DurationText.maximum).contains(duration), "\(duration) is out of range")
    var text: [UInt8] = []
    DurationText.append(duration, to: &text)
    require((try? DurationText.parse(text)) == duration, "\(duration) reads otherwise once written")
}

/// Input: the text of an instant.
func fuzzInstant(_ input: [UInt8]) {
    guard let instant = try? RFC3339.parse(input) else { return }
    require((RFC3339.minimum...RFC3339.maximum).contains(instant), "\(instant) is out of range")
    var text: [UInt8] = []
    RFC3339.append(instant, to: &text)
    require((try? RFC3339.parse(text)) == instant, "\(instant) reads otherwise once written")
}
