import Primitives

/// A timer as its client set it, in one run of bytes: the form it has in memory and in the log.
///
/// ```
/// namespace   varint, 0 is `default`           ┐
/// id          0xFF and 16 bytes, or length and bytes │ the prefix: what every event shows
/// labels      varint length, then (length, key, length, value) …; │
///             before them the trace context, if one is kept ┘
/// createdAt   6 bytes, wall milliseconds
/// rules       see `RulesCodec`
/// webhook     varint length and as many bytes, where its flag in the rules is set
/// payload     the rest, JSON as given, where its flag in the rules is set
/// ```
public enum Definition {
    /// The ranges of the parts of an encoded definition, and its decoded numbers.
    public struct Layout: Sendable, Equatable {
        /// The id in its kept form.
        var id: Range<Int>
        /// The label pairs.
        public var labels: Range<Int>
        /// The length of the prefix that every event shows: namespace, id, trace context, labels.
        public var prefixCount: Int
        /// The instant at which the timer was made, in wall milliseconds.
        public var createdAt: Int64
        /// The rules by which the timer behaves.
        public var rules: TimerRules
        /// The webhook's bytes, as `encode` was given them; nil for none.
        public var webhook: Range<Int>?
        /// The JSON of the payload, nil for none.
        public var payload: Range<Int>?
    }

    static let createdAtCount = 6

    /// Encodes a definition; `createdAt` is 0 until the timer is made.
    ///
    /// - Parameters:
    ///   - id: a valid `TimerID`.
    ///   - labels: the encoded pairs, as `appendLabel` wrote them.
    ///   - webhook: the destination of the events in `rules.deliveries`, in any form; empty for none.
    ///   - payload: compact JSON, empty for none.
    public static func encode(
        id: Span<UInt8>, labels: Span<UInt8>, rules: TimerRules, webhook: Span<UInt8>, payload: Span<UInt8>
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(id.count + labels.count + webhook.count + payload.count + 48)
        bytes.append(0)
        TimerID.appendKept(id, to: &bytes)
        ByteCoding.append(UInt64(labels.count), to: &bytes)
        bytes.append(copying: labels)
        for _ in 0..<createdAtCount { bytes.append(0) }
        RulesCodec.append(rules, hasPayload: !payload.isEmpty, hasWebhook: !webhook.isEmpty, to: &bytes)
        if !webhook.isEmpty {
            ByteCoding.append(UInt64(webhook.count), to: &bytes)
            bytes.append(copying: webhook)
        }
        bytes.append(copying: payload)
        return bytes
    }

    /// Appends one label to an encoded run of them. The key and the value have at most 255 bytes each.
    public static func appendLabel(key: Span<UInt8>, value: Span<UInt8>, to labels: inout [UInt8]) {
        labels.append(UInt8(key.count))
        labels.append(copying: key)
        labels.append(UInt8(value.count))
        labels.append(copying: value)
    }

    /// Writes the instant a timer was made into its encoded definition.
    public static func setCreatedAt(_ wall: Int64, in bytes: inout [UInt8]) {
        guard let offset = prefixCount(bytes.span) else { return }
        for index in 0..<createdAtCount {
            bytes[offset + index] = UInt8(truncatingIfNeeded: wall >> Int64(8 * index))
        }
    }

    /// Whether the whole definition `bytes` has a recurrence that begins with the step which takes it.
    static func lacksStart(_ bytes: Span<UInt8>) -> Bool {
        RulesCodec.lacksStart(bytes, at: rulesStart(bytes))
    }

    /// Writes the start of a recurrence that begins with this step, which is at the wall instant, into its encoded
    /// definition; changes no other definition.
    static func setStart(_ wall: Int64, in bytes: inout [UInt8]) {
        guard let prefix = prefixCount(bytes.span) else { return }
        RulesCodec.setStart(wall, in: &bytes, at: prefix + createdAtCount)
    }

    /// Writes the spent instants of a schedule with a calendar into its encoded definition; changes no other definition.
    static func setSpent(_ spent: SpentInstants, in bytes: inout [UInt8]) {
        RulesCodec.setSpent(spent, in: &bytes, at: rulesStart(bytes.span))
    }

    /// Returns where the rules of the whole definition `bytes` begin: after its prefix and the instant it was made.
    static func rulesStart(_ bytes: Span<UInt8>) -> Int { (prefixCount(bytes) ?? 0) + createdAtCount }

    /// Returns how many bytes namespace, id and labels take; nil when `bytes` are no definition.
    public static func prefixCount(_ bytes: Span<UInt8>) -> Int? {
        guard bytes.count > 2, bytes[0] == 0, let idCount = TimerID.keptCount(bytes, at: 1) else { return nil }
        var offset = 1 + idCount
        guard let labels = ByteCoding.read(bytes, &offset), labels <= UInt64(bytes.count - offset) else { return nil }
        return offset + Int(labels)
    }

    /// Decodes a definition; nil when `bytes` are no whole one.
    public static func layout(_ bytes: Span<UInt8>) -> Layout? { try? read(bytes, nil) }

    /// Decodes a definition that was checked on its way in, or that `encode` has made.
    public static func checkedLayout(_ bytes: Span<UInt8>) -> Layout { checkedLayout(bytes, schedules: nil) }

    /// Decodes a definition that was checked on its way in, or that `encode` has made; a schedule that `schedules` has
    /// is not read again.
    static func checkedLayout(_ bytes: Span<UInt8>, schedules: ScheduleCache?) -> Layout {
        do throws(RulesCodec.Unreadable) { return try read(bytes, schedules) } catch {
            preconditionFailure("a definition is encoded by `encode`, or was checked on its way in")
        }
    }

    /// Decodes the rules of a definition that was checked on its way in, or that `encode` has made, and no other part.
    static func checkedRules(_ bytes: Span<UInt8>, schedules: ScheduleCache? = nil) -> TimerRules {
        var offset = rulesStart(bytes)
        do throws(RulesCodec.Unreadable) { return try RulesCodec.read(bytes, &offset, schedules).rules } catch {
            preconditionFailure("a definition is encoded by `encode`, or was checked on its way in")
        }
    }

    private static func read(_ bytes: Span<UInt8>, _ schedules: ScheduleCache?) throws(RulesCodec.Unreadable) -> Layout
    {
        guard let prefix = prefixCount(bytes), let idCount = TimerID.keptCount(bytes, at: 1) else {
            throw RulesCodec.Unreadable()
        }
        var offset = 1 + idCount
        guard ByteCoding.read(bytes, &offset) != nil else { throw RulesCodec.Unreadable() }
        let labels = labelsStart(bytes, offset..<prefix)..<prefix
        // A label without a key would be a trace context once it is written again.
        guard labels.isEmpty || bytes[labels.lowerBound] != traceMark else { throw RulesCodec.Unreadable() }
        offset = prefix
        guard let createdAt = ByteCoding.readFixed(bytes, &offset, count: createdAtCount) else {
            throw RulesCodec.Unreadable()
        }
        let (rules, hasPayload, hasWebhook) = try RulesCodec.read(bytes, &offset, schedules)
        var webhook: Range<Int>?
        if hasWebhook {
            guard let count = ByteCoding.read(bytes, &offset), count > 0, count <= UInt64(bytes.count - offset) else {
                throw RulesCodec.Unreadable()
            }
            webhook = offset..<offset + Int(count)
            offset += Int(count)
        }
        guard hasPayload == (offset < bytes.count) else { throw RulesCodec.Unreadable() }
        let payload = hasPayload ? offset..<bytes.count : nil
        return Layout(
            id: 1..<1 + idCount, labels: labels, prefixCount: prefix, createdAt: Int64(createdAt), rules: rules,
            webhook: webhook, payload: payload)
    }

    /// Whether `bytes` are a whole definition.
    public static func isWhole(_ bytes: Span<UInt8>) -> Bool {
        guard case .some = layout(bytes) else { return false }
        return true
    }

    /// Reads the instant at which the timer of the whole definition `bytes` was made, in wall milliseconds, without
    /// decoding the rest; 0 for the prefix of one.
    public static func createdAt(_ bytes: Span<UInt8>) -> Int64 {
        var offset = prefixCount(bytes) ?? 0
        return ByteCoding.readFixed(bytes, &offset, count: createdAtCount).map { Int64($0) } ?? 0
    }

    /// Whether the whole definition `bytes` is a watchdog's, without decoding the rest.
    static func isWatchdog(_ bytes: Span<UInt8>) -> Bool {
        RulesCodec.isWatchdog(bytes, at: rulesStart(bytes))
    }

    /// Returns the name of the calendar in the whole definition `bytes`, without decoding the rest; nil for none.
    public static func calendarName(_ bytes: Span<UInt8>) -> CalendarName? {
        RulesCodec.calendarName(bytes, at: rulesStart(bytes))
    }

    /// Returns how many of `bytes` the timer's name takes: namespace and id in their kept form.
    static func nameCount(_ bytes: Span<UInt8>) -> Int { min(bytes.count, 1 + (TimerID.keptCount(bytes, at: 1) ?? 0)) }

    /// Whether two definitions, or prefixes of them, have the same name.
    public static func haveSameName(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        let count = nameCount(left)
        guard nameCount(right) == count else { return false }
        for index in 0..<count where left[index] != right[index] { return false }
        return true
    }

    /// Whether a client set both definitions alike, whenever either timer was made and whatever trace context either
    /// keeps.
    static func isSame(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        let (leftRest, rightRest) = (rulesStart(left), rulesStart(right))
        if let left = asSet(left) { return isSame(left.span, right) }
        if let right = asSet(right) { return isSame(left, right.span) }
        guard left.count - leftRest == right.count - rightRest, leftRest <= left.count else { return false }
        return haveSameName(left, right)
            && equal(left.extracting(labels(left)), right.extracting(labels(right)))
            && equal(left.extracting(leftRest...), right.extracting(rightRest...))
    }

    /// Returns the whole definition `bytes` without the spent instants of its schedule; nil where there are none.
    private static func asSet(_ bytes: Span<UInt8>) -> [UInt8]? {
        guard calendarName(bytes) != nil else { return nil }
        var plain = [UInt8](copying: bytes)
        setSpent(SpentInstants(), in: &plain)
        return plain.count < bytes.count ? plain : nil
    }

    /// Whether `left` and `right` are the same bytes.
    static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    /// Appends the id, as clients write it, of the definition (or prefix of one) `bytes`.
    public static func appendID(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        text.append(addingCapacity: TimerID.maximumLength) { appendID(bytes, to: &$0) }
    }

    /// Appends the id, as clients write it, of the definition (or prefix of one) `bytes`; `text` has room for
    /// `TimerID.maximumLength` bytes.
    public static func appendID(_ bytes: Span<UInt8>, to text: inout OutputSpan<UInt8>) {
        guard let count = TimerID.keptCount(bytes, at: 1) else { return }
        TimerID.appendText(kept: bytes.extracting(1..<1 + count), to: &text)
    }

    /// Whether the id, as clients write it, of the definition (or prefix of one) `bytes` begins with `prefix`.
    public static func id(_ bytes: Span<UInt8>, startsWith prefix: [UInt8]) -> Bool {
        var text: [UInt8] = []
        appendID(bytes, to: &text)
        return text.starts(with: prefix)
    }

    /// Returns the range of the labels in the definition (or prefix of one) `bytes`.
    public static func labels(_ bytes: Span<UInt8>) -> Range<Int> {
        guard let run = labelRun(bytes) else { return 0..<0 }
        return labelsStart(bytes, run)..<run.upperBound
    }

    /// Returns the range of the labels in the definition (or prefix of one) `bytes`, with the trace context before
    /// them; nil when `bytes` are no definition.
    static func labelRun(_ bytes: Span<UInt8>) -> Range<Int>? {
        guard let prefix = prefixCount(bytes), let idCount = TimerID.keptCount(bytes, at: 1) else { return nil }
        var offset = 1 + idCount
        guard ByteCoding.read(bytes, &offset) != nil else { return nil }
        return offset..<prefix
    }

    /// Returns the key and value ranges of the label that starts at `offset`, in the labels that end at `end`, and
    /// moves `offset` past the label. Nil at the end.
    public static func nextLabel(
        _ bytes: Span<UInt8>, _ offset: inout Int, end: Int
    ) -> (key: Range<Int>, value: Range<Int>)? {
        guard offset < end else { return nil }
        let key = offset + 1..<offset + 1 + Int(bytes[offset])
        guard key.upperBound < end else { return nil }
        let value = key.upperBound + 1..<key.upperBound + 1 + Int(bytes[key.upperBound])
        guard value.upperBound <= end else { return nil }
        offset = value.upperBound
        return (key, value)
    }
}

extension Definition {
    /// The properties that a pass over all timers reads of each definition, at a restart above all: a byte in the
    /// timer's slot, as each definition lies elsewhere in memory.
    struct Traits: OptionSet, BitwiseCopyable {
        let rawValue: UInt8
        /// The schedule names a time zone, or the timer a calendar, which has one.
        static let zoned = Traits(rawValue: 1)
        /// The timer is planned at its due instant, and a late fire needs no look at its rules: it is no watchdog,
        /// and has no leeway, no jitter and no `misfire: all`.
        static let punctual = Traits(rawValue: 2)
        /// The place of the two bits of the clock.
        static let clockShift: UInt8 = 2
        private static let clockMask: UInt8 = 3
        /// The timer is suspended once its last subscriber has left.
        static let stopsUnsubscribed = Traits(rawValue: 16)
        /// The timer goes by a calendar.
        static let calendar = Traits(rawValue: 32)
        /// The schedule is a recurrence rule.
        static let rule = Traits(rawValue: 64)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ clock: TimerClock) { rawValue = clock.rawValue << Self.clockShift }

        /// The timer's clock.
        var clock: TimerClock {
            guard let clock = TimerClock(rawValue: rawValue >> Self.clockShift & Self.clockMask) else {
                preconditionFailure("the clock is one that `init` was given")
            }
            return clock
        }
    }

    /// Reads the traits of the whole definition `bytes`, without decoding the rest.
    static func traits(_ bytes: Span<UInt8>) -> Traits {
        guard let traits = RulesCodec.traits(bytes, at: rulesStart(bytes)) else {
            preconditionFailure("the table holds only definitions that decode: they are checked on the way in")
        }
        return traits
    }
}
