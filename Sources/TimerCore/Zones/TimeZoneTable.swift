import Primitives

/// The offsets of a time zone from UTC, as a table of its transitions: time zones reach this module as data.
///
/// Instants are seconds since 1970 in UTC, local times seconds since 1970-01-01T00:00:00 by the zone's clocks; an
/// offset is local time minus UTC. A rule that goes on for ever has its transitions in the table for 400 years,
/// after which the calendar, weekdays included, repeats itself.
public struct TimeZoneTable: Sendable, Equatable {
    /// Coordinated universal time.
    public static let utc = TimeZoneTable(offset: 0)

    /// The seconds in the 400 years after which the calendar repeats itself.
    static let cycle = CivilDate.daysInEra * CronExpression.day
    /// The offsets that a TZif file may have by RFC 9636, in seconds.
    static let offsets: ClosedRange<Int64> = -89_999...93_599
    /// The distance from 1970, in seconds, from which on an instant means nothing; real files go back to -2^59.
    static let farthest: Int64 = 1 << 60

    /// A change of offset.
    struct Transition: Sendable, Equatable {
        var instant: Int64
        var offset: Int32
        /// The local time from then on, less the latest local time before: if positive, so many seconds of local
        /// time are left out; if negative, so many come a second time.
        var skipped: Int32
    }

    /// The offset before the first transition.
    private var initialOffset: Int32
    private var transitions: [Transition] = []
    /// The instant from which the table, up to its last transition, repeats itself every 400 years; nil if it does
    /// not.
    private(set) var cycleStart: Int64?
    /// The rule that goes on for ever after the changes that were listed, as POSIX writes it; empty for none.
    private(set) var rule: [UInt8] = []
    /// The number of transitions that were listed: the rule makes the others.
    private var listedCount = 0

    /// Makes a zone whose offset never changes.
    init(offset: Int32) { initialOffset = offset }

    /// - Parameters:
    ///   - initialOffset: the offset before the first transition.
    ///   - changes: the instants, ascending, and the offset from each on.
    ///   - cycleStart: the instant from which a table that goes on for ever repeats itself. Its transitions reach
    ///     400 years beyond, and the offsets of the two days before it are those of 400 years later.
    ///   - rule: the rule that made the changes after the first `listedCount`; empty for none.
    init(
        initialOffset: Int32, changes: [(instant: Int64, offset: Int32)], cycleStart: Int64? = nil, rule: [UInt8] = [],
        listedCount: Int? = nil
    ) {
        self.rule = rule
        self.listedCount = listedCount ?? changes.count
        self.initialOffset = initialOffset
        self.cycleStart = cycleStart
        transitions.reserveCapacity(changes.count)
        var offset = Int64(initialOffset)
        var latest = Int64.min
        for change in changes {
            latest = max(latest, change.instant + offset)
            offset = Int64(change.offset)
            // Offsets are bounded, so a difference fits; of longer ones only the sign could count.
            let skipped = Int32(clamping: change.instant + offset - latest)
            transitions.append(Transition(instant: change.instant, offset: change.offset, skipped: skipped))
        }
    }

    /// Returns the changes after an instant that were listed, not made by a rule.
    func listed(after instant: Int64) -> [(instant: Int64, offset: Int32)] {
        transitions[..<listedCount].filter { $0.instant > instant }.map { ($0.instant, $0.offset) }
    }

    /// Returns the offset from UTC, in seconds, at an instant in seconds.
    public func offset(at instant: Int64) -> Int64 { segment(at: instant).offset }

    /// Returns the offset, in seconds, before the last change of it at or before an instant.
    func offset(beforeChangeAt instant: Int64) -> Int64 {
        let segment = segment(at: instant)
        return segment.start > .min ? offset(at: segment.start - 1) : segment.offset
    }

    /// Returns the instant, in seconds, of a local time. One that comes twice means the first; one that a change of
    /// offset leaves out is read with the offset before.
    func instant(ofLocal local: Int64) -> Int64 {
        // No offset is above the upper bound, so every earlier instant has an earlier local time.
        var segment = segment(at: local - Self.offsets.upperBound - 1)
        while local - segment.offset >= segment.end {
            let next = self.segment(at: segment.end)
            guard local - next.offset >= next.start else { break }
            segment = next
        }
        return local - segment.offset
    }

    /// Returns the segment between two transitions that holds an instant.
    func segment(at instant: Int64) -> ZoneSegment {
        guard let cycleStart, instant >= cycleStart else { return listed(instant) }
        let past = (instant - cycleStart) / Self.cycle * Self.cycle
        guard past > 0 else { return listed(instant) }
        var segment = listed(instant - past)
        // The segment that holds the cycle's start begins before it, in every cycle alike: its start moves like its
        // end.
        segment.start += past
        segment.end = segment.end == .max ? .max : segment.end + past
        return segment
    }

    private func listed(_ instant: Int64) -> ZoneSegment {
        let passed = transitions.countPrefix { $0.instant <= instant }
        let end =
            passed < transitions.count ? transitions[passed].instant : cycleStart.map { $0 + Self.cycle } ?? .max
        guard passed > 0 else {
            return ZoneSegment(start: .min, end: end, offset: Int64(initialOffset), skipped: 0)
        }
        let last = transitions[passed - 1]
        return ZoneSegment(start: last.instant, end: end, offset: Int64(last.offset), skipped: Int64(last.skipped))
    }
}

/// A span of time without a change of offset. The end may be only that of a table: what follows may have the same
/// offset.
struct ZoneSegment {
    /// The first instant; `Int64.min` for no beginning.
    var start: Int64
    /// The instant after the last; `Int64.max` for no end.
    var end: Int64
    var offset: Int64
    /// See ``TimeZoneTable/Transition/skipped``.
    var skipped: Int64

    /// The first local time of the segment that had not come before; `Int64.min` for a segment without a beginning.
    var firstNewLocal: Int64 {
        guard start > .min else { return .min }
        return start + offset + max(0, -skipped)
    }
}

/// The scheduler's source of time zones.
public protocol ZoneSource: Sendable {
    /// Returns the zone of that IANA name; nil when there is none.
    func zone(named name: [UInt8]) -> TimeZoneTable?
}

extension ZoneSource {
    /// Whether a client may name that zone: the source has it, and it is the same on every machine.
    public func offers(_ name: [UInt8]) -> Bool { !UnknownZone.isOfMachine(name) && zone(named: name) != nil }
}

/// A source that knows UTC and no other zone.
public struct UTCOnly: ZoneSource {
    /// Makes the source.
    public init() {}
    /// Returns UTC under its name, nil for any other.
    public func zone(named name: [UInt8]) -> TimeZoneTable? { name == Array("UTC".utf8) ? .utc : nil }
}
