import TimerLog

/// Reads what a feed has in memory, slice by slice.
public struct FeedReading {
    /// The hub of a log that is not divided, and how far it was read.
    private var undivided: (hub: EventHub, position: Int64)?
    private var merged: MergedReading?

    /// Reads the rows of `hub` behind `position`.
    init(_ hub: EventHub, after position: Int64) { undivided = (hub, position) }

    /// Reads what `merged` merges.
    init(_ merged: MergedReading) { self.merged = merged }

    /// What comes next.
    public mutating func next() -> EventFeed.Next {
        guard let (hub, position) = undivided else { return merged?.next() ?? .gone }
        switch hub.row(after: position) {
        case .row(let row):
            undivided = (hub, row.last)
            return .slice(RowSlice(row))
        case .none(let newest): return .none(newest: newest)
        case .gone: return .gone
        }
    }
}
