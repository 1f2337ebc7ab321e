import TimerLog

/// Reads the rows that a feed has in memory, one by one.
public struct FeedReading {
    /// The newest rows of the log that was active when the reading began; nil for none.
    private let hub: EventHub?
    private var position: Int64

    /// Reads the rows of `hub` after `position`.
    init(_ hub: EventHub?, after position: Int64) {
        self.hub = hub
        self.position = position
    }

    /// Reads the next row.
    public mutating func next() -> EventFeed.Next {
        guard let hub else { return .none(newest: position) }
        let next = hub.row(after: position)
        if case .row(let row) = next { position = row.last }
        return next
    }
}
