import Primitives

/// The offsets of a time zone from UTC, as a table of its transitions: time zones reach this module as data.
///
/// Instants are seconds since 1970 in UTC, local times seconds since 1970-01-01T00:00:00 on the zone's wall; an offset
/// is local time minus UTC. Where a rule goes on for ever, its transitions stand in the table for 400 years, after
/// which the calendar, weekdays included, repeats itself.
public struct TimeZoneTable: Sendable, Equatable {
    /// Coordinated universal time.
    public static let utc = TimeZoneTable(offset: 0)

    /// Seconds in the 400 years after which the calendar repeats itself.
    static let cycle = CivilDate.daysInEra * CronExpression.day
    /// Offsets a TZif file may have, after RFC 9636.
    static let offsets: ClosedRange<Int64> = -89_999...93_599

    /// When an offset begins.
    struct Transition: Sendable, Equatable {
        var instant: Int64
        var offset: Int32
        /// Local time from then on, less the latest local time before: if positive, so many seconds of local time are
        /// left out; if negative, so many come a second time.
        var skipped: Int32
    }

    /// The offset before the first transition.
    private var initialOffset: Int32
    private var transitions: [Transition] = []
    /// From here to the last transition the table repeats itself every 400 years; nil where it does not.
    private var cycleStart: Int64?

    /// A zone whose offset never changes.
    init(offset: Int32) { initialOffset = offset }

    /// - Parameters:
    ///   - initialOffset: before the first transition.
    ///   - changes: instants, ascending, and the offset from then on.
    ///   - cycleStart: a table that goes on for ever has its transitions up to 400 years after this instant, and the
    ///     offsets of the two days before it are those of 400 years later.
    init(initialOffset: Int32, changes: [(instant: Int64, offset: Int32)], cycleStart: Int64? = nil) {
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

    /// The offset from UTC in seconds at an instant in seconds.
    public func offset(at instant: Int64) -> Int64 { segment(at: instant).offset }

    /// The offset in seconds before the last change of it at or before an instant.
    func offset(beforeChangeAt instant: Int64) -> Int64 {
        let segment = segment(at: instant)
        return segment.start > .min ? offset(at: segment.start - 1) : segment.offset
    }

    /// The instant, in seconds, of a local time: of one that comes twice the first; one that a change of offset leaves out
    /// is read with the offset before.
    func instant(ofLocal local: Int64) -> Int64 {
        // No offset is above the greatest, so an earlier instant has an earlier local time.
        var segment = segment(at: local - Self.offsets.upperBound - 1)
        while local - segment.offset >= segment.end {
            let next = self.segment(at: segment.end)
            guard local - next.offset >= next.start else { break }
            segment = next
        }
        return local - segment.offset
    }

    /// The time between two transitions that holds an instant.
    func segment(at instant: Int64) -> ZoneSegment {
        guard let cycleStart, instant >= cycleStart else { return listed(instant) }
        let past = (instant - cycleStart) / Self.cycle * Self.cycle
        guard past > 0 else { return listed(instant) }
        var segment = listed(instant - past)
        // What holds at the cycle's start began before it: its beginning is that of one cycle earlier.
        segment.start += past
        segment.end = segment.end == .max ? .max : segment.end + past
        return segment
    }

    private func listed(_ instant: Int64) -> ZoneSegment {
        // The first transition after the instant.
        var low = 0
        var high = transitions.count
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle].instant <= instant { low = middle + 1 } else { high = middle }
        }
        let end = low < transitions.count ? transitions[low].instant : cycleStart.map { $0 + Self.cycle } ?? .max
        guard low > 0 else {
            return ZoneSegment(start: .min, end: end, offset: Int64(initialOffset), skipped: 0)
        }
        let last = transitions[low - 1]
        return ZoneSegment(start: last.instant, end: end, offset: Int64(last.offset), skipped: Int64(last.skipped))
    }
}
