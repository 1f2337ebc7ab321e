/// A row with its records decoded, which can be done before the rows ahead of it are folded.
public struct DecodedRow: Sendable {
    /// The row.
    let row: LogRow
    /// The records, up to the first that is damaged.
    let records: [LogRecord]
    /// The header, once the whole row was read; or the error that ended the reading.
    let header: Result<BatchHeader, StoreError>

    /// Decodes `row` and verifies its checksums.
    init(_ row: LogRow) {
        self.row = row
        var records: [LogRecord] = []
        // The positions may be damaged, so the capacity is bounded by the records that the bytes have room for.
        let distance = max(0, row.last &- row.first)
        records.reserveCapacity(min(Int(distance), row.data.count / RecordCodec.frameCount) + 1)
        do throws(StoreError) {
            header = .success(
                try BatchRows.read(row) { record in
                    records.append(record)
                    return true
                })
        } catch {
            header = .failure(error)
        }
        self.records = records
    }
}
