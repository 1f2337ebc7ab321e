internal import Platform

extension LogStore {
    /// Hands every row to `body`, in order, while a thread of its own reads and decodes the next ones.
    ///
    /// - Parameter moved: called now and then on the way, with the next few rows at the latest.
    /// - Throws: what `body` throws, at once; what reading throws, after the rows read before.
    public func readAhead(
        moved: () -> Void = {}, _ body: (DecodedRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        let queue = RowQueue()
        let thread = Thread(name: "read ahead") {
            do throws(StoreError) {
                try queue.fill(from: try self.makeReader())
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

/// Rows on their way from the thread that reads them to the one that works on them.
private final class RowQueue: @unchecked Sendable {  // unchecked: what changes is touched only under `lock`
    /// Rows go over together that have so many bytes, or so many records, which take more memory than they do in a row: a
    /// thread is woken for some 250 us of work, not for a short row.
    private static let portionBytes = BatchRows.maximumRowBytes
    private static let portionRecords = 4096
    /// How many portions wait at most.
    private static let portionsAhead = 4

    private let lock = Lock()
    private var portions: [[DecodedRow]] = []
    private var isEnded = false
    private var failure: StoreError?
    private var isStopped = false

    /// Reads and decodes rows until none is left, or nobody wants more.
    func fill(from reader: any LogReader) throws(StoreError) {
        var portion: [DecodedRow] = []
        var (bytes, records) = (0, 0)
        // Those read before a failure go before it.
        defer { _ = add(portion) }
        try reader.read(from: 0) { row in
            let decoded = DecodedRow(row)
            portion.append(decoded)
            bytes += row.data.count
            records += 1 + decoded.records.count
            guard bytes >= Self.portionBytes || records >= Self.portionRecords else { return true }
            defer { (portion, bytes, records) = ([], 0, 0) }
            return add(portion)
        }
    }

    /// Waits until there is room. False when nobody wants more.
    private func add(_ portion: [DecodedRow]) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        while portions.count >= Self.portionsAhead, !isStopped { lock.wait() }
        portions.append(portion)
        lock.broadcast()
        return !isStopped
    }

    /// Notes that nothing follows, or what went wrong.
    func end(_ failure: StoreError?) {
        lock.withLock {
            self.failure = failure
            isEnded = true
            lock.broadcast()
        }
    }

    /// The next rows, once they are there; nil after the last.
    func take() throws(StoreError) -> [DecodedRow]? {
        lock.lock()
        defer { lock.unlock() }
        while portions.isEmpty, !isEnded { lock.wait() }
        guard portions.isEmpty else {
            lock.broadcast()
            return portions.removeFirst()
        }
        if let failure { throw failure }
        return nil
    }

    /// Nobody wants more.
    func stop() {
        lock.withLock {
            isStopped = true
            lock.broadcast()
        }
    }
}
