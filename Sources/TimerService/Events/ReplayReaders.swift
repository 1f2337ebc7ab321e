import TimerLog

/// What one replay thread reads with: a reader of each store that it was asked for.
final class ReplayReaders {
    private let feed: EventFeed
    private var readers: [Int: (source: any EventSource, reader: any LogReader)] = [:]

    init(_ feed: EventFeed) { self.feed = feed }

    /// The reader of a partition's store.
    func reader(of source: any EventSource) throws(StoreError) -> any LogReader {
        if let known = readers[source.number], known.source === source { return known.reader }
        let reader = try source.makeReader()
        readers[source.number] = (source, reader)
        return reader
    }

    /// The row that holds `position`: what may be shown and is not on disk yet is in memory. Nil where it is gone, or its
    /// partition is elsewhere.
    func row(holding position: Int64) throws(StoreError) -> LogRow? {
        guard let source = feed.owner(ofPosition: position) else { return nil }
        if let row = source.hub.row(holding: position) { return row }
        return try reader(of: source).row(holding: position)
    }

    /// As `row(holding:)`, of what is on disk.
    func storedRow(holding position: Int64) throws(StoreError) -> LogRow? {
        guard let source = feed.owner(ofPosition: position) else { return nil }
        return try reader(of: source).row(holding: position)
    }

    /// Follows a timer's events back, as `LogReader.follow` does, through what is on disk: they all stand in one partition.
    func follow(
        from position: Int64, _ body: (LogRow) throws(StoreError) -> Int64?
    ) throws(StoreError) -> Int64? {
        guard let source = feed.owner(ofPosition: position) else { return position }
        return try reader(of: source).follow(from: position, body)
    }

    /// Lets go of the readers of partitions that have left.
    func prune() {
        guard readers.count > 1 || feed.only == nil, !readers.isEmpty else { return }
        readers = readers.filter { number, known in feed.source(number) === known.source }
    }
}
