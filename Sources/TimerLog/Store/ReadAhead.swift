internal import Platform

extension LogStore {
    /// Passes the rows that hold positions from `position` on to `body`, in order, while another thread reads and
    /// decodes the next ones.
    ///
    /// - Parameters:
    ///   - moved: called after every few rows, at the latest after some 256 KiB or 4096 records.
    /// - Throws: the error of `body`, at once; the error of reading, after the rows that were read before it.
    public func readAhead(
        from position: Int64 = 0, moved: () -> Void = {}, _ body: (DecodedRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        let queue = RowQueue()
        let thread = Thread(name: "read ahead") {
            do throws(StoreError) {
                try queue.fill(from: try self.makeReader(), position)
                queue.end(nil)
            } catch {
                queue.end(error)
            }
        }
        defer {
            queue.stop()
            thread.join()
        }
        while let rows = try queue.take() {
            for row in rows { try body(row) }
            moved()
        }
    }
}

extension LogReader {
    /// Passes the rows that hold positions from `position` on to `body`, in order, until `body` returns false or no row
    /// is left.
    ///
    /// - Throws: the error of `body`, at once; the error of reading.
    public func readDecoded(
        from position: Int64, _ body: (DecodedRow) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var failure: StoreError?
        try read(from: position) { row in
            do throws(StoreError) {
                return try body(DecodedRow(row))
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }
}

/// A row with its records decoded, which can be done before the rows ahead of it are folded.
public struct DecodedRow: Sendable {
    /// The row.
    public let row: LogRow
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
            header = .success(try BatchRows.read(row, into: &records))
        } catch {
            header = .failure(error)
        }
        self.records = records
    }
}

/// The queue of rows between the thread that reads them and the thread that works on them.
private final class RowQueue: Sendable {
    /// The bytes, and the records, at which a portion of rows is queued: decoded records take more memory than a
    /// row's bytes, and a thread is woken for some 250 us of work, not for a short row.
    private static let portionBytes = BatchRows.maximumRowBytes
    private static let portionRecords = 4096
    /// The most portions in the queue.
    private static let portionsAhead = 4

    private struct State {
        var portions: [[DecodedRow]] = []
        var isEnded = false
        var failure: StoreError?
        var isStopped = false
    }

    private let state = Guarded(State())

    /// Reads and decodes the rows from `position` on until none is left, or until `stop`.
    func fill(from reader: any LogReader, _ position: Int64) throws(StoreError) {
        var portion: [DecodedRow] = []
        var (bytes, records) = (0, 0)
        // The rows that were read before a failure are queued before it.
        defer { _ = add(portion) }
        try reader.read(from: position) { row in
            let decoded = DecodedRow(row)
            portion.append(decoded)
            bytes += row.data.count
            records += 1 + decoded.records.count
            guard bytes >= Self.portionBytes || records >= Self.portionRecords else { return true }
            defer { (portion, bytes, records) = ([], 0, 0) }
            return add(portion)
        }
    }

    /// Adds a portion once there is room, or after `stop`. Returns false after `stop`.
    private func add(_ portion: [DecodedRow]) -> Bool {
        // One thread adds, so the room that it waited for is still there.
        state.wait { $0.portions.count < Self.portionsAhead || $0.isStopped ? () : nil }
        return state.update { state in
            state.portions.append(portion)
            return !state.isStopped
        }
    }

    /// Notes the end of the rows, or the failure that ended them.
    func end(_ failure: StoreError?) {
        state.update { state in
            state.failure = failure
            state.isEnded = true
        }
    }

    /// Waits for the next rows and returns them; nil after the last.
    func take() throws(StoreError) -> [DecodedRow]? {
        // One thread takes, so the portion that it waited for is still there.
        state.wait { !$0.portions.isEmpty || $0.isEnded ? () : nil }
        return try state.update { state throws(StoreError) in
            if !state.portions.isEmpty { return state.portions.removeFirst() }
            if let failure = state.failure { throw failure }
            return nil
        }
    }

    /// Makes `fill` end: no further rows are taken.
    func stop() {
        state.update { $0.isStopped = true }
    }
}
