/// A recurrence rule that repeats itself from an instant in a time zone, with dates added and taken away, as a timer
/// carries it.
///
/// The instant `from` gives, by its local time, what the rule leaves open; it is due only if the rule names it. The
/// local times of the rule begin with that of `from`. One that comes twice means the first; one that a change of offset
/// leaves out is read with the offset before, and instants that meet by that count and are due once.
///
/// No instant is stored but the last one, once `bounded` has found it. Finding the next one costs the same however far it
/// is from `from`. A rule with a `COUNT` ends after 1,000 years all the same, which bounds the search for its last
/// instant.
public struct RecurrenceSchedule: Sendable, Equatable {
    /// The rule as its client wrote it.
    public let text: [UInt8]
    /// The IANA name of the time zone.
    public let zone: [UInt8]
    /// DTSTART in wall milliseconds, a whole second; `unset` before the step that takes its own instant for it.
    public private(set) var from: Int64
    /// The wall milliseconds at which the schedule is due besides, ascending, each once.
    public let rdates: [Int64]
    /// The wall milliseconds at which the schedule is not due, even where `rdates` has them, ascending, each once.
    public let exdates: [Int64]

    let rule: RecurrenceRule
    /// The last second at which the rule may be due, as `bounded` found it; nil before.
    private var last: Int64?

    /// The `from` of a schedule that begins with the step which makes or changes its timer, which is no instant.
    static let unset = Int64.max

    /// The most instants of `rdates` and of `exdates`.
    public static let dateLimit = 1000

    /// The seconds since 1970 that are searched: from the year 0 to the end of the year 9999.
    static let seconds: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// Reads a rule.
    ///
    /// - Parameters:
    ///   - text: a RECUR value of RFC 5545, see ``RecurrenceRule/init(_:)``; at most 512 bytes.
    ///   - zone: an IANA name, which is not looked up here.
    ///   - from: DTSTART in wall milliseconds, rounded up to a second; nil for the instant of the step that makes or changes
    ///     the timer.
    ///   - rdates: wall milliseconds at which the schedule is due besides, at most 1,000 different ones.
    ///   - exdates: wall milliseconds at which it is not due, at most 1,000 different ones.
    public init(
        _ text: [UInt8], zone: [UInt8], from: Int64?, rdates: [Int64] = [], exdates: [Int64] = []
    ) throws(RecurrenceError) {
        rule = try RecurrenceRule(text)
        self.text = text
        self.zone = zone
        self.from = from.map(Self.wholeSecond) ?? Self.unset
        self.rdates = rdates.ascending
        self.exdates = exdates.ascending
        for (name, dates) in [("rdates", self.rdates), ("exdates", self.exdates)] where dates.count > Self.dateLimit {
            throw RecurrenceError("\(name): \(dates.count) instants are more than \(Self.dateLimit)")
        }
    }

    /// Returns the same schedule from another instant on.
    func starting(from instant: Int64) -> RecurrenceSchedule {
        var schedule = self
        schedule.from = Self.wholeSecond(instant)
        schedule.last = nil
        return schedule
    }

    /// Returns the same schedule with its last instant, which costs up to some milliseconds to find where the rule has a
    /// `COUNT`, or is never due. Each answer of a schedule without it costs as much.
    ///
    /// - Parameter zone: the table of the schedule's zone, which every later question names too.
    public func bounded(in zone: TimeZoneTable) -> RecurrenceSchedule {
        if from == Self.unset { return self }
        var schedule = self
        let recurrence = recurrence(in: zone)
        let bounds = recurrence.bounds
        let isEmpty = recurrence.first(notBefore: bounds.lowerBound) == nil
        schedule.last = isEmpty ? bounds.lowerBound - 1 : bounds.upperBound - 1
        return schedule
    }

    /// Whether the schedule names an instant, the end of a `COUNT` left aside: for this it need not be known.
    func names(_ instant: Int64, in zone: TimeZoneTable) -> Bool {
        if exdates.holds(instant) { return false }
        if rdates.holds(instant) { return true }
        let recurrence = ZonedRecurrence(rule, start: from / 1000, last: last, in: zone)
        return instant % 1000 == 0 && recurrence.contains(instant / 1000)
    }

    /// Returns the same schedule from another instant on, with its last instant where its zone is known.
    func begun(at instant: Int64, in zones: any ZoneSource) -> RecurrenceSchedule {
        let schedule = starting(from: instant)
        return zones.zone(named: zone).map { schedule.bounded(in: $0) } ?? schedule
    }

    /// Whether both name the same instants, however each rule is spelled.
    public static func == (left: RecurrenceSchedule, right: RecurrenceSchedule) -> Bool {
        left.rule == right.rule && left.zone == right.zone && left.from == right.from && left.rdates == right.rdates
            && left.exdates == right.exdates
    }

    /// Returns the first instant after `instant`, in wall milliseconds; nil when none follows up to the year 9999.
    public func next(after instant: Int64, in zone: TimeZoneTable) -> Int64? {
        let added = rdates[rdates.count(through: instant)...].first { !exdates.holds($0) }
        let ruled = nextOfRule(after: instant, in: zone)
        guard let added, let ruled else { return added ?? ruled }
        return min(added, ruled)
    }

    private func nextOfRule(after instant: Int64, in zone: TimeZoneTable) -> Int64? {
        let recurrence = recurrence(in: zone)
        var next = recurrence.first(notBefore: floorDivide(instant, 1000) + 1)
        while let second = next, exdates.holds(second * 1000) { next = recurrence.first(notBefore: second + 1) }
        return next.map { $0 * 1000 }
    }

    /// Returns the last instant at or before `end` of those after `start`, in wall milliseconds, and how many there
    /// are; nil when there is none. The cost is that of the periods, the changes of offset, and the dates added and
    /// taken away in between, however often the schedule is due.
    public func latest(after start: Int64, through end: Int64, in zone: TimeZoneTable) -> (
        instant: Int64, count: Int64
    )? {
        let recurrence = recurrence(in: zone)
        let first = floorDivide(start, 1000) + 1
        let range = first..<max(first, floorDivide(end, 1000) + 1)
        let counted = recurrence.count(in: range)
        var count = counted
        func isRuled(_ date: Int64) -> Bool {
            date % 1000 == 0 && range.contains(date / 1000) && recurrence.contains(date / 1000)
        }

        // The instants taken away, and the end of the range before those that are its last.
        let taken = exdates.filter(isRuled)
        var last = range
        var trailing: Int64 = 0
        for date in taken.reversed() {
            guard recurrence.count(in: date / 1000 + 1..<last.upperBound) == 0 else { break }
            last = range.lowerBound..<date / 1000
            trailing += 1
        }
        var latest: Int64?
        if counted > trailing { latest = recurrence.instant(number: counted - trailing, in: last) * 1000 }
        count -= Int64(taken.count)

        for date in rdates where date > start && date <= end && !exdates.holds(date) && !isRuled(date) {
            count += 1
            latest = max(latest ?? date, date)
        }
        return latest.map { ($0, count) }
    }

    private func recurrence(in zone: TimeZoneTable) -> ZonedRecurrence {
        let recurrence = ZonedRecurrence(rule, start: from / 1000, last: last, in: zone)
        guard last == nil, case .count(let limit) = rule.end else { return recurrence }
        return ZonedRecurrence(rule, start: from / 1000, last: recurrence.end(ofCount: limit), in: zone)
    }

    /// Returns an instant rounded up to a second, within the years that are searched or the second after them.
    static func wholeSecond(_ instant: Int64) -> Int64 {
        let second = floorDivide(instant, 1000) + (instant % 1000 == 0 ? 0 : 1)
        return min(max(second, seconds.lowerBound), seconds.upperBound + 1) * 1000
    }
}
