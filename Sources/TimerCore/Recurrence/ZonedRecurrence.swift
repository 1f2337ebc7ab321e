import Primitives

/// The instants of a recurrence in a time zone, in seconds since 1970.
///
/// A local time that comes twice means the first. One that a change of offset leaves out is read with the offset before
/// (RFC 5545, 3.3.5), by which its instant may come after that of a later local time, or be the same as that of
/// another, which counts once.
struct ZonedRecurrence {
    private let recurrence: Recurrence
    private let zone: TimeZoneTable
    /// The instants that may be due.
    let bounds: Range<Int64>

    /// How far, at most, an instant is from a change of offset that leaves out the instant's local time, and from the
    /// instant that has the local time in UTC, together.
    private static let reach = 2 * TimeZoneTable.offsets.upperBound - TimeZoneTable.offsets.lowerBound

    /// - Parameters:
    ///   - start: the instant of DTSTART.
    ///   - last: the last instant, if it is known.
    init(_ rule: RecurrenceRule, start: Int64, last: Int64?, in zone: TimeZoneTable) {
        var last = last ?? RecurrenceSchedule.seconds.upperBound
        if case .instant(let end) = rule.end { last = min(last, end) }
        bounds = start..<max(start, last + 1)
        recurrence = Recurrence(
            rule, start: start + zone.offset(at: start), limit: last + TimeZoneTable.offsets.upperBound)
        self.zone = zone
    }

    /// Returns the first instant that is not before `instant`; nil when there is none.
    func first(notBefore instant: Int64) -> Int64? {
        let low = max(instant, bounds.lowerBound)
        guard low < bounds.upperBound else { return nil }
        var found = bounds.upperBound
        var segment = zone.segment(at: low - Self.reach)
        // No instant of a later segment is before the segment's start.
        while segment.start < found {
            if let gap = Gap(before: segment, in: zone), low < gap.instants.upperBound,
                let local = recurrence.first(in: max(gap.local.lowerBound, low + gap.offset)..<gap.local.upperBound)
            {
                found = min(found, local - gap.offset)
            }
            var next = segment.end
            if segment.end > low {
                let from = max(max(low, segment.start) + segment.offset, segment.firstNewLocal)
                guard let local = recurrence.first(notBefore: from) else { break }
                if local - segment.offset < segment.end {
                    found = min(found, local - segment.offset)
                    break
                }
                // Segments without a local time of the recurrence are left out.
                next = max(next, local - Self.reach)
            }
            segment = zone.segment(at: next)
        }
        return found < bounds.upperBound ? found : nil
    }

    /// Returns the number of instants in `range`. The cost is that of ``Recurrence/count(in:)`` and of the changes of
    /// offset in the range.
    func count(in range: Range<Int64>) -> Int64 {
        let range = range.clamped(to: bounds)
        guard !range.isEmpty else { return 0 }
        let start = firstLocal(from: range.lowerBound)
        let local = start..<max(start, firstLocal(from: range.upperBound))
        var count = recurrence.count(in: local)
        var segment = zone.segment(at: range.lowerBound - Self.reach)
        // The segment at the end of a table's cycle has a second part, with the start of the first.
        var lastStart: Int64?
        // The local time at the range's end is after a gap that begins there.
        while segment.start <= range.upperBound {
            let isNew = segment.start != lastStart
            lastStart = segment.start
            if isNew, let gap = Gap(before: segment, in: zone), recurrence.mayHoldTime(gap.local) {
                // The local times in the gap count whose instants are in the range and are no other's too.
                let instants = gap.instants.clamped(to: range)
                let counted = instants.lowerBound + gap.offset..<instants.upperBound + gap.offset
                count += recurrence.count(in: counted) - recurrence.count(in: gap.local.clamped(to: local))
                count -= recurrence.pairs(in: counted, apart: segment.offset - gap.offset)
            }
            guard segment.end <= range.upperBound else { break }
            segment = zone.segment(at: segment.end)
        }
        return count
    }

    /// Whether an instant, in seconds, is one of the recurrence.
    func contains(_ instant: Int64) -> Bool { count(in: instant..<instant + 1) > 0 }

    /// The years, in seconds, after which a rule with a `COUNT` ends.
    private static let longestCount = 1000 * CivilDate.daysInEra / 400 * CronExpression.day

    /// Returns the last instant of the first `limit`, or the end of the bounds or of ``longestCount``.
    func end(ofCount limit: Int64) -> Int64 {
        let end = min(bounds.upperBound, bounds.lowerBound + Self.longestCount)
        var (low, width, left) = (bounds.lowerBound, CronExpression.day, limit)
        while low < end {
            let range = low..<min(end, low + width)
            let found = count(in: range)
            if found >= left { return instant(number: left, in: range) }
            left -= found
            low = range.upperBound
            width *= 2
        }
        return end - 1
    }

    /// Returns the instant that is the `number`th in `range`, from 1 on; `range` has so many. The cost is twice that of
    /// counting the range.
    func instant(number: Int64, in range: Range<Int64>) -> Int64 {
        var range = range.clamped(to: bounds)
        var left = number
        while range.count > 1 {
            let middle = range.lowerBound + Int64(range.count / 2)
            let half = range.lowerBound..<middle
            let count = count(in: half)
            if count < left {
                left -= count
                range = middle..<range.upperBound
            } else {
                range = half
            }
        }
        return range.lowerBound
    }

    /// Returns the first local time that had not come before an instant.
    private func firstLocal(from instant: Int64) -> Int64 {
        let segment = zone.segment(at: instant)
        return max(instant + segment.offset, segment.firstNewLocal)
    }

    /// Local times that a change of offset leaves out.
    private struct Gap {
        let local: Range<Int64>
        /// The offset before the change, with which they are read.
        let offset: Int64

        /// Makes the gap that a segment begins with; nil when there is none.
        init?(before segment: ZoneSegment, in zone: TimeZoneTable) {
            guard segment.skipped > 0 else { return nil }
            offset = zone.offset(at: segment.start - 1)
            local = segment.start + segment.offset - segment.skipped..<segment.start + segment.offset
        }

        /// The instants of the local times.
        var instants: Range<Int64> { local.lowerBound - offset..<local.upperBound - offset }
    }
}
