import TimerLog

/// The rows that a loop decoded last, and the portions that it made of them for streams that are behind, which often
/// need the same ones within a round.
struct CatchUpCache {
    private struct Portion {
        var channel: StreamChannel
        var after: StreamCursor
        var portion: StreamPortion
    }

    private var rows: [RowEvents] = []
    private var portions: [Portion] = []

    /// The most rows, and the most portions, that are kept.
    private static let mostKept = 8

    /// Returns the events of `row`; nil unless they were decoded lately.
    func events(of row: LogRow) -> RowEvents? {
        rows.first { $0.row.first == row.first && $0.row.last == row.last }
    }

    /// Keeps a row's events, in place of the oldest.
    mutating func keep(_ events: RowEvents) {
        if rows.count == Self.mostKept { rows.removeFirst() }
        rows.append(events)
    }

    /// Returns the portion that streams of `channel` at `after` get next; nil unless it was made lately.
    func portion(of channel: StreamChannel, after: StreamCursor) -> StreamPortion? {
        portions.first { $0.channel === channel && $0.after == after }?.portion
    }

    /// Keeps a portion, in place of the oldest.
    mutating func keep(_ portion: StreamPortion, of channel: StreamChannel, after: StreamCursor) {
        if portions.count == Self.mostKept { portions.removeFirst() }
        portions.append(Portion(channel: channel, after: after, portion: portion))
    }

    /// Drops everything.
    mutating func removeAll() { (rows, portions) = ([], []) }
}
