/// The nominal instants of a schedule, ascending, in wall milliseconds.
protocol NominalInstants: Sendable {
    /// Returns the first instant after `instant`; nil when none follows.
    func next(after instant: Int64) -> Int64?
    /// Returns the last instant at or before `end` of those after `start`, and how many there are; nil when there is
    /// none.
    func latest(after start: Int64, through end: Int64) -> (instant: Int64, count: Int64)?
}

/// The due instants of a schedule that opening hours shape: nominal ones in closed time are dropped or moved.
///
/// The order is that of the moved instants, and those that meet are one. A search is bounded: it looks at
/// ``lookLimit`` nominal instants in closed time, each of which costs at most one search for the next opening, and then
/// finds nothing. A schedule due once a day is searched for longer than the dates of a calendar can close it, a denser
/// one once for each opening.
struct ShapedSchedule<Source: NominalInstants>: Sendable {
    let source: Source
    let hours: OpenHours
    let policy: ClosedPolicy
    /// The zone whose local time `nextDay` and `previousDay` keep.
    let zone: TimeZoneTable
    /// The instant before which no moved instant is due; nil for no such bound.
    var from: Int64?

    /// The most nominal instants in closed time at which a search looks.
    static var lookLimit: Int { 2048 }
    /// The most instants that are counted one by one.
    static var countLimit: Int64 { Scheduler.mostCaughtUp + 2 }
    /// The milliseconds by which an instant is moved at the most.
    static var reach: Int64 { ClosedPolicy.dayLimit * Schedule.day }

    /// Returns the first due instant after `instant`; nil when none follows.
    func next(after instant: Int64) -> Int64? {
        var days = Self.dayLimit
        return next(after: instant, &days)
    }

    /// The search finds nothing certain once the days that a search by days may look at are used up.
    func next(after instant: Int64, _ days: inout Int) -> Int64? {
        let start = from.map { max(instant, $0 - 1) } ?? instant
        switch policy {
        case .skip: return nextOpen(after: start)
        case .next: return nextByOpening(after: start)
        case .nextDay, .previousDay: return nextByDay(after: start, &days)
        }
    }

    /// Returns the last due instant at or before `end` of those after `start`, and how many there are; nil when there
    /// is none. By `nextDay` and `previousDay` more than ``countLimit`` of them are counted as so many, or as those that
    /// are not moved if these are more; and so where the count would take too long.
    func latest(after start: Int64, through end: Int64) -> (instant: Int64, count: Int64)? {
        guard let first = next(after: start), first <= end else { return nil }
        return policy.direction == nil
            ? latestInOrder(from: first, through: end) : latestByDay(from: first, through: end)
    }

    /// Returns the last due instant at or before `end` of those after `start`; nil when there is none. The search costs less than
    /// counting them.
    func last(after start: Int64, through end: Int64) -> Int64? {
        guard let first = next(after: start), first <= end else { return nil }
        return policy.direction == nil
            ? latestInOrder(from: first, through: end).instant : lastDue(from: first, through: end)
    }

    /// Returns where a nominal instant is due; nil if it is dropped.
    func moved(_ nominal: Int64) -> Int64? {
        guard let moved = hours.moved(nominal, by: policy, in: zone), moved >= from ?? .min else { return nil }
        return moved
    }

    /// Returns nominal instants that are due at an instant: all but those of one closed time that are moved to its end,
    /// of which the last is returned, and the first.
    func nominals(of due: Int64) -> [Int64] {
        var found: [Int64] = []
        if isNominal(due) { found.append(due) }
        switch policy {
        case .skip: break
        case .next:
            guard !hours.isOpen(at: due - 1) else { break }
            let start = max(hours.closing(before: due - 1), due - Self.reach) - 1
            if let last = source.latest(after: start, through: due - 1)?.instant { found.append(last) }
            if let first = source.next(after: start), first < due { found.append(first) }
        case .nextDay, .previousDay:
            let local = zone.local(at: due)
            for day in 1...ClosedPolicy.dayLimit {
                let nominal = zone.firstInstant(atLocal: local - (policy.direction ?? 0) * day * Schedule.day)
                if hours.isOpen(at: nominal) { break }
                if isNominal(nominal) { found.append(nominal) }
            }
        }
        return found
    }

    private func isNominal(_ instant: Int64) -> Bool { source.next(after: instant - 1) == instant }

    /// Returns the first nominal instant in open time after `instant`.
    func nextOpen(after instant: Int64) -> Int64? {
        var nominal = source.next(after: instant)
        for _ in 0..<Self.lookLimit {
            guard let found = nominal, let opening = hours.nextOpening(atOrAfter: found) else { return nil }
            if opening == found { return found }
            nominal = source.next(after: opening - 1)
        }
        return nil
    }

    /// Returns the first instant after `instant` by the policy `next`, which keeps the order of instants.
    private func nextByOpening(after instant: Int64) -> Int64? {
        if !hours.isOpen(at: instant), let opening = hours.nextOpening(atOrAfter: instant) {
            // Nominal instants of this closed time that are not after `instant` are due at its end, too.
            let earliest = max(hours.closing(before: instant), opening - Self.reach)
            if let nominal = source.next(after: earliest - 1), nominal <= opening { return opening }
        }
        var nominal = source.next(after: instant)
        for _ in 0..<Self.lookLimit {
            guard let found = nominal, let opening = hours.nextOpening(atOrAfter: found) else { return nil }
            if opening - found <= Self.reach { return opening }
            nominal = source.next(after: opening - Self.reach - 1)
        }
        return nil
    }

    /// Finds the latest by a policy that keeps the order of instants: open time is counted by the source in one go. After
    /// ``lookLimit`` runs of it the rest is no longer counted.
    private func latestInOrder(from first: Int64, through end: Int64) -> (instant: Int64, count: Int64) {
        var last = first
        var count: Int64 = 1
        var place = first
        for _ in 0..<Self.lookLimit {
            guard let nominal = source.next(after: place), nominal <= end,
                let opening = hours.nextOpening(atOrAfter: nominal)
            else { return (last, count) }
            if opening == nominal {
                let closing = hours.closing(after: nominal, limit: end + 1)
                guard let found = source.latest(after: place, through: closing - 1) else { return (last, count) }
                last = found.instant
                count += found.count
                place = closing - 1
            } else if policy == .next && opening - nominal <= Self.reach {
                guard opening <= end else { return (last, count) }
                last = opening
                count += 1
                place = opening
            } else {
                place = policy == .next ? opening - Self.reach - 1 : opening - 1
            }
        }
        return (lastDue(from: last, through: end), count)
    }

    /// Returns the last due instant at or before `end`, from `first` on, which is one. A search by days that takes too long ends
    /// with an earlier one.
    func lastDue(from first: Int64, through end: Int64) -> Int64 {
        var low = first
        var high = end
        var days = Self.countedDays
        while low < high, days > 0 {
            let middle = low + (high - low) / 2
            if let next = next(after: middle, &days), next <= end { low = next } else { high = middle }
        }
        return low
    }
}
