import WireJSON

/// What a part of an import came to, in some partitions or in all.
struct ImportResult: Equatable {
    /// Whether anything was applied; not where all of it was applied before.
    var isApplied = false
    /// The part that is next; nil before any partition was asked.
    var next: Int?
    /// Whether the export is imported as a whole.
    var isComplete = true
    var timers = 0
    var deliveries = 0
    var skipped = 0

    /// Adds what it came to in other partitions.
    mutating func join(_ other: ImportResult) {
        isApplied = isApplied || other.isApplied
        next = [next, other.next].compactMap(\.self).min()
        isComplete = isComplete && other.isComplete
        timers += other.timers
        deliveries += other.deliveries
        skipped += other.skipped
    }

    /// As a client is shown it.
    var text: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("applied", isApplied)
        json.member("next", Int64(next ?? 0))
        json.member("complete", isComplete)
        if isApplied {
            json.member("timers", Int64(timers))
            json.member("deliveries", Int64(deliveries))
            json.member("skipped", Int64(skipped))
        }
        json.endObject()
        return json.bytes
    }
}

extension ImportResult {
    /// Reads what `text` gives; nil for anything else.
    init?(_ text: [UInt8]) {
        guard let reader = CountReader(text), let next = reader.integer("next") else { return nil }
        isApplied = reader.isTrue("applied")
        self.next = next
        isComplete = reader.isTrue("complete")
        timers = reader.integer("timers") ?? 0
        deliveries = reader.integer("deliveries") ?? 0
        skipped = reader.integer("skipped") ?? 0
    }
}
