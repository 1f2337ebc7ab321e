/// The instants whose place a change of opening hours moves over the moment of the change, for schedules that keep their local
/// time (`nextDay`, `previousDay`).
///
/// Instants of several times of day are moved over one another. So the next one alone does not tell which of those before it
/// came, and a change after which an instant comes a second time has to say that it is spent. Which instants these are is the
/// same for all timers of a policy and a zone, whatever their schedules.
struct SpendingChange {
    /// The instants that came by the hours before, and come again by the hours after, or may by hours to follow.
    let again: InstantRanges
    /// The instants that had not come by the hours before, up to the end of time.
    let unspent: InstantRanges
    private let direction: Int64
    /// The instant before which nominal instants no longer matter.
    private let oldest: Int64

    /// - Parameters:
    ///   - instant: that of the change, in wall milliseconds.
    ///   - direction: that of the policy: see ``ClosedPolicy/direction``.
    init(at instant: Int64, _ direction: Int64, from before: DayWalk, to after: DayWalk) {
        self.direction = direction
        let later = InstantRanges(instant + 1 ..< .max)
        if direction > 0 {
            // Instants that are closed up to the change have not come: the hours before moved them beyond it, or dropped them.
            let waiting = before.unbroken(at: instant, direction)
            again = after.unbroken(at: instant, direction).subtracting(waiting)
            unspent = later.union(waiting)
            oldest = instant - ClosedPolicy.dayLimit * Schedule.day - DayWalk.slack
        } else {
            // Instants that are closed from the change on have come where an open day was before it.
            func come(_ walk: DayWalk) -> InstantRanges {
                walk.unbroken(at: instant, direction, from: walk.reachable(at: instant, direction))
            }
            let spent = come(before)
            again = spent.subtracting(come(after))
            unspent = later.subtracting(spent)
            oldest = instant
        }
    }

    /// Returns what is spent of a schedule once the hours have changed; nil where that need not be known, as none of it comes
    /// again.
    ///
    /// - Parameter instants: the nominal instants of the schedule, but for those that are spent already.
    func spent(of instants: some NominalInstants, _ already: SpentInstants) -> SpentInstants? {
        guard !instants.held(by: again.ranges, limit: 1).isEmpty else { return nil }
        let ranges = already.unspent.intersection(unspent).ranges.filter { $0.upperBound > oldest }
        // The ranges nearest to the change count where there are too many: older instants are spent then, later ones are not.
        let limit = SpentInstants.limit / 2
        if direction > 0 {
            let held = instants.held(by: ranges.dropLast(), limit: .max)
            return SpentInstants(unspent: InstantRanges(held.suffix(limit) + ranges.suffix(1)))
        }
        let held = instants.held(by: ranges.dropLast(), limit: limit + 1)
        let end = held.count > limit ? held[limit] : ranges.last
        return SpentInstants(
            unspent: InstantRanges(held.prefix(limit) + [end].compactMap { $0.map { $0.lowerBound ..< .max } }))
    }
}

extension NominalInstants {
    /// Returns the ranges that have an instant, the first `limit` of them.
    ///
    /// - Parameter ranges: ascending.
    fileprivate func held(by ranges: some Sequence<Range<Int64>>, limit: Int) -> [Range<Int64>] {
        var found: [Range<Int64>] = []
        var instant = Int64.min
        for range in ranges where instant < range.upperBound && found.count < limit {
            if instant < range.lowerBound {
                guard let next = next(after: range.lowerBound - 1) else { break }
                instant = next
            }
            if instant < range.upperBound { found.append(range) }
        }
        return found
    }
}
