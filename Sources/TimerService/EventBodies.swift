import TimerLog

/// Reads events by their positions: the newest rows from the hub's memory, older ones from the store.
///
/// Deliveries come about in the order of the log, so the rows read last are kept.
struct EventBodies {
    /// Most rows kept.
    private static let capacity = 16

    private let hub: EventHub
    private let store: any LogStore
    private var reader: (any LogReader)?
    private var rows: [RowRecords] = []
    private var oldest = 0

    init(_ hub: EventHub, _ store: any LogStore) {
        self.hub = hub
        self.store = store
    }

    /// The event `id` whose record stands at `position`, with the data of its row; nil where it is gone.
    mutating func event(_ id: Int64, at position: Int64) throws(StoreError) -> (event: LogRecord, data: [UInt8])? {
        guard let row = try row(position), let record = row.record(at: position) else { return nil }
        if case .delivery(_, let event) = record.content {
            guard let event, event.position == id else { return nil }
            return (event, row.row.data)
        }
        return record.position == id && record.isEvent ? (record, row.row.data) : nil
    }

    private mutating func row(_ position: Int64) throws(StoreError) -> RowRecords? {
        if let kept = rows.first(where: { $0.row.first <= position && position <= $0.row.last }) { return kept }
        var found = hub.row(holding: position)
        if found == nil { found = try read(position) }
        guard let row = found else { return nil }
        let records = RowRecords(row)
        if rows.count < Self.capacity {
            rows.append(records)
        } else {
            rows[oldest] = records
            oldest = (oldest + 1) % Self.capacity
        }
        return records
    }

    private mutating func read(_ position: Int64) throws(StoreError) -> LogRow? {
        do throws(StoreError) {
            if reader == nil { reader = try store.makeReader() }
            return try reader?.row(holding: position)
        } catch {
            // The store may have been opened anew.
            reader = nil
            throw error
        }
    }

    /// Forgets the rows kept: the log was folded anew, and positions may have been given out again.
    mutating func forget() {
        rows = []
        oldest = 0
        reader = nil
    }
}
