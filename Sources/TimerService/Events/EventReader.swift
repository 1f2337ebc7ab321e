import TimerCore
import TimerLog

/// Reads events by the positions of their records.
///
/// Deliveries come in roughly the order of the log, so the rows read last are kept.
struct EventReader {
    /// The most rows that are kept.
    private static let capacity = 16

    private let read: (_ position: Int64) throws(StoreError) -> LogRow?
    private var rows: [RowRecords] = []
    private var oldest = 0

    /// - Parameter read: finds the row that holds a position.
    init(_ read: @escaping (_ position: Int64) throws(StoreError) -> LogRow?) { self.read = read }

    /// Returns the event `id`, whose record is at `position`, with the data of its row; nil where it is gone.
    mutating func event(_ id: Int64, at position: Int64) throws(StoreError) -> (event: LogRecord, data: [UInt8])? {
        guard let row = try row(position), let record = row.record(at: position) else { return nil }
        if case .delivery(let detail, let event) = record.content {
            guard let event, detail.id == id else { return nil }
            return (event, row.row.data)
        }
        return record.position == id && record.isEvent ? (record, row.row.data) : nil
    }

    /// Returns the definition of the deleted timer whose will is at `position`; nil where it is gone.
    mutating func will(at position: Int64) throws(StoreError) -> [UInt8]? {
        guard let row = try row(position), let record = row.record(at: position), case .will = record.content else {
            return nil
        }
        return Array(row.row.data[record.definition])
    }

    private mutating func row(_ position: Int64) throws(StoreError) -> RowRecords? {
        if let kept = rows.first(where: { $0.holds(position) }) { return kept }
        guard let row = try read(position) else { return nil }
        let records = RowRecords(row)
        if rows.count < Self.capacity {
            rows.append(records)
        } else {
            rows[oldest] = records
            oldest = (oldest + 1) % Self.capacity
        }
        return records
    }
}
