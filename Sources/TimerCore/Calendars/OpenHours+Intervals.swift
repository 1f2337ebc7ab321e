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

    /// Returns the parts of a range of a zone's local time that are closed.
    func closedParts(of range: Range<Int64>, in zone: TimeZoneTable) -> [Range<Int64>] {
        var parts: [Range<Int64>] = []
        var start = range.lowerBound
        let end = zone.firstInstant(atLocal: range.upperBound - 1) + 1
        var place = zone.firstInstant(atLocal: range.lowerBound)
        while let opening = nextOpening(atOrAfter: place), opening < end {
            place = closing(after: opening, limit: end)
            let open = zone.localRange(of: opening..<place)
            if open.lowerBound > start { parts.append(start..<open.lowerBound) }
            start = max(start, open.upperBound)
        }
        if start < range.upperBound { parts.append(start..<range.upperBound) }
        return parts
    }
}
