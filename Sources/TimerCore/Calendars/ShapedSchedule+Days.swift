// Instants that keep their local time and change their day.
//
// An instant may be moved by many days over others that are not moved, so that the order changes. A sparse schedule is
// searched from the nominal instants, each of which is moved by itself. A dense one is searched from the open time in
// which a moved instant can lie: going away from that day by day, only such times of the day are kept at which all days
// in between are closed. These are soon none.
extension ShapedSchedule {
    /// The nominal instants within the reach of a move up to which a schedule is sparse.
    private static var sparseLimit: Int { 32 }
    /// The most days at which a search for moved instants of a dense schedule looks, and at which all searches of a count look
    /// together.
    static var dayLimit: Int { 8192 }
    static var countedDays: Int { 16_384 }
    /// The days at whose cost a run of open time is found.
    private static var daysPerRun: Int { 8 }
    /// The days of a run of open time that are searched at once.
    private static var runDays: Int64 { 31 }

    /// Returns the first instant after `instant` by the policy `nextDay` or `previousDay`.
    func nextByDay(after instant: Int64, _ days: inout Int) -> Int64? {
        nextOfSparse(after: instant) ?? nextOfDense(after: instant, &days)
    }

    /// Returns the first instant of a sparse schedule after `instant`; nil if there is none, and for a dense schedule.
    private func nextOfSparse(after instant: Int64) -> Int64? {
        // The nominal instants that may be moved past `instant`, or from beyond it, are as far away as a move reaches.
        let isForward = policy == .nextDay
        let behind = isForward ? Self.reach + DayWalk.slack : 0
        let ahead = isForward ? 0 : Self.reach + DayWalk.slack
        var nominal = source.next(after: instant - behind)
        var near: [Int64] = []
        while let found = nominal, found <= instant + ahead {
            guard near.count < Self.sparseLimit else { return nil }
            near.append(found)
            nominal = source.next(after: found)
        }
        let moved = near.compactMap { hours.moved($0, by: policy, in: zone) }
        var best = moved.filter { $0 > instant }.min()
        for _ in 0..<Self.sparseLimit {
            guard let found = nominal, found <= best.map({ $0 + ahead }) ?? .max else { return best }
            if let moved = hours.moved(found, by: policy, in: zone), moved > instant { best = min(best ?? .max, moved) }
            nominal = source.next(after: found)
        }
        return nil
    }

    /// Finds the latest by going from each to the next; if that are too many, or takes too long, by halving the time.
    func latestByDay(from first: Int64, through end: Int64) -> (instant: Int64, count: Int64) {
        var last = first
        var count: Int64 = 1
        var days = Self.countedDays
        while count < Self.countLimit {
            let next = next(after: last, &days)
            if days <= 0 { break }
            guard let next, next <= end else { return (last, count) }
            last = next
            count += 1
        }
        let open = ShapedSchedule(source: source, hours: hours, policy: .skip, zone: zone)
        return (
            lastDue(from: last, through: end), max(count, open.latest(after: first - 1, through: end)?.count ?? 0)
        )
    }

    /// Returns the first instant of a dense schedule after `instant`: run by run of open time, the first that is moved
    /// into the run, or in it as it is.
    private func nextOfDense(after instant: Int64, _ days: inout Int) -> Int64? {
        var place = instant + 1
        while days > 0 {
            days -= Self.daysPerRun
            guard let opening = hours.nextOpening(atOrAfter: place) else { return nil }
            let closing = hours.closing(after: opening, limit: opening + Self.runDays * Schedule.day)
            let unmoved = source.next(after: opening - 1).flatMap { $0 < closing ? $0 : nil }
            let end = unmoved ?? closing
            if opening < end, let moved = firstMoved(into: opening..<end, &days) { return moved }
            if let unmoved { return unmoved }
            place = closing
        }
        return nextOpen(after: place - 1)
    }

    /// Returns the first moved instant in a run of open time, and takes the days at which it looks from `days`.
    private func firstMoved(into run: Range<Int64>, _ days: inout Int) -> Int64? {
        let direction = policy.direction ?? 0
        // The local times of the run at which every day up to the one that is looked at is closed.
        var closed = ClosedTimes([zone.localRange(of: run)], by: DayWalk(hours: hours, zone: zone))
        var best: Int64?
        for day in 1...ClosedPolicy.dayLimit {
            if closed.ranges.isEmpty { break }
            days -= 1
            let shift = direction * day * Schedule.day
            for range in closed.ranges {
                guard let nominal = firstClosed(in: range.shifted(by: -shift)) else { continue }
                best = min(best ?? .max, nominal + shift)
                break
            }
            if let best { closed.clip(below: best) }
            closed.narrow(by: -shift)
        }
        return best.map { zone.firstInstant(atLocal: $0) }
    }

    /// Returns the local time of the first nominal instant in closed time, of those with a local time in `range`.
    private func firstClosed(in range: Range<Int64>) -> Int64? {
        var best: Int64?
        var segment = zone.segment(at: floorDivide(range.lowerBound, 1000) - TimeZoneTable.offsets.upperBound)
        while true {
            let offset = segment.offset * 1000
            let start = max(range.lowerBound - offset, segment.start > .min ? segment.start * 1000 : .min)
            let end = min(range.upperBound - offset, segment.end < .max ? segment.end * 1000 : .max)
            if start < end, let nominal = firstClosed(between: start, end) {
                best = min(best ?? .max, nominal + offset)
            }
            guard segment.end <= floorDivide(range.upperBound, 1000) - TimeZoneTable.offsets.lowerBound else { break }
            segment = zone.segment(at: segment.end)
        }
        return best
    }

    private func firstClosed(between start: Int64, _ end: Int64) -> Int64? {
        var place = start
        while let nominal = source.next(after: place - 1), nominal < end {
            guard hours.isOpen(at: nominal) else { return nominal }
            place = hours.closing(after: nominal, limit: end)
        }
        return nil
    }
}

extension Range<Int64> {
    /// Returns the range that far away.
    func shifted(by distance: Int64) -> Self { lowerBound + distance..<upperBound + distance }
}
