import Platform
import TimerLog

/// A log in memory whose oldest rows are deleted between two reads of one reader.
final class DeletingStore: LogStore {
    private let inner = MemoryLogStore()
    private let deletion = Guarded<Int64>(0)

    /// Rows up to `position` are deleted before the second read of each reader.
    func delete(atSecondRead position: Int64) { deletion.withLock { $0 = position } }

    func open() throws(StoreError) -> StoreHead { try inner.open() }

    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        inner.append(rows, expecting: expecting, epoch: epoch)
    }

    func delete(upTo position: Int64) throws(StoreError) -> Int { try inner.delete(upTo: position) }

    func replace(with rows: [LogRow]) throws(StoreError) { try inner.replace(with: rows) }

    func makeReader() throws(StoreError) -> any LogReader { Reader(self, try inner.makeReader()) }

    func bytesOnDisk() -> Int { inner.bytesOnDisk() }

    func close() { inner.close() }

    private final class Reader: LogReader {
        private let store: DeletingStore
        private let inner: any LogReader
        private var reads = 0

        init(_ store: DeletingStore, _ inner: any LogReader) { (self.store, self.inner) = (store, inner) }

        func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) {
            reads += 1
            if reads == 2 { _ = try store.delete(upTo: store.deletion.withLock { $0 }) }
            try inner.read(from: position, body)
        }

        func row(holding position: Int64) throws(StoreError) -> LogRow? { try inner.row(holding: position) }
    }
}
