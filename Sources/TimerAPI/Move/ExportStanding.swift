import TimerLog
import WireJSON

/// How some partitions stand when an export begins, or ends.
struct ExportStanding: Equatable {
    /// Whether each of them is drained, and no attempt at a delivery is under way.
    var isDrained: Bool
    /// Versions of deleted timers go up to here at most.
    var versionFloor: Int64
    /// All up to this event is in what is read from now on, and what changes from now on has a later one.
    var mark: EventID
    /// The newest of their calendars, in wall milliseconds.
    var at: Int64
    /// Of each partition `Turn.drainStamp`, by its number.
    var stamps: [Int: UInt64]

    /// How partitions stand together, of which this and the other have different ones.
    mutating func join(_ other: ExportStanding) {
        isDrained = isDrained && other.isDrained
        versionFloor = max(versionFloor, other.versionFloor)
        mark = min(mark, other.mark)
        at = max(at, other.at)
        stamps.merge(other.stamps) { _, new in new }
    }

    /// Whether what was read between this standing and a later one is of one moment: no partition has another owner, and no
    /// drain was taken back.
    func lasts(until later: ExportStanding) -> Bool { stamps == later.stamps }

    // MARK: As servers tell it to each other

    /// A JSON object. The stamps are in the order of `scope`.
    func text(_ scope: PartitionScope) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("drained", isDrained)
        json.member("versionFloor", versionFloor)
        json.key("mark")
        json.string(mark.text)
        json.member("at", at)
        json.key("stamps")
        json.string(scope.numbers.map { String(stamps[$0] ?? 0, radix: 16) }.joined(separator: " "))
        json.endObject()
        return json.bytes
    }

    /// How partitions stand.
    init(isDrained: Bool, versionFloor: Int64, mark: EventID, at: Int64, stamps: [Int: UInt64]) {
        self.isDrained = isDrained
        self.versionFloor = versionFloor
        self.mark = mark
        self.at = at
        self.stamps = stamps
    }

    /// Reads what `text` gives of the partitions of `scope`; nil for anything else.
    init?(_ text: [UInt8], of scope: PartitionScope) {
        guard let reader = CountReader(text), let floor = reader.integer("versionFloor"),
            let mark = reader.text("mark").flatMap({ EventID(shown: $0) }), let at = reader.integer("at"),
            let words = reader.text("stamps")?.split(separator: UInt8(ascii: " "))
        else { return nil }
        let (numbers, values) = (
            scope.numbers, words.compactMap { UInt64(String(decoding: $0, as: UTF8.self), radix: 16) }
        )
        guard words.count == numbers.count, values.count == numbers.count else { return nil }
        self.init(
            isDrained: reader.isTrue("drained"), versionFloor: Int64(floor), mark: mark, at: Int64(at),
            stamps: Dictionary(uniqueKeysWithValues: zip(numbers, values)))
    }
}
