/// A row with its records decoded, which may be done before the rows ahead of it are folded.
public struct DecodedRow: Sendable {
    /// The row.
    let row: LogRow
    /// The records, up to the first that is damaged.
    let records: [LogRecord]
    /// The head, once the whole row was read; or what is wrong with it.
    let header: Result<BatchHeader, StoreError>

    /// Decodes `row`, its checksums verified.
    init(_ row: LogRow) {
        self.row = row
        var records: [LogRecord] = []
        // Positions may be damaged: what the bytes have room for bounds them.
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
