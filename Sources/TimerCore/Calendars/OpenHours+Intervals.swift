// Open time as intervals.
extension OpenHours {
    /// Returns the intervals of open time in [start, end), ascending, cut at its ends, and joined where they meet or
    /// overlap: the first `limit` of them, and the beginning of the next one, nil if there is none.
    public func open(from start: Int64, until end: Int64, limit: Int) -> (intervals: [Range<Int64>], next: Int64?) {
        var found: [Range<Int64>] = []
        var place = start
        while let opening = nextOpening(atOrAfter: place), opening < end {
            guard found.count < limit else { return (found, opening) }
            let closing = closing(after: opening, limit: end)
            found.append(opening..<closing)
            place = closing
        }
        return (found, nil)
    }
}
