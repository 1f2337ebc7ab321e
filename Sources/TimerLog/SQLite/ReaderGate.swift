internal import Platform

/// Who reads a store, and whether they may: while the store opens anew, no connection may be left.
final class ReaderGate: @unchecked Sendable {  // unchecked: what changes is touched only under `lock`
    private let lock = Lock()
    private var isOpen = false
    private var slots: [ObjectIdentifier: ReaderSlot] = [:]

    /// Makes a reader whose connection is opened by `open`, while the gate is open.
    func makeReader(_ open: @escaping @Sendable () throws(StoreError) -> RowQueries) -> SQLiteLogReader {
        let slot = ReaderSlot { [weak self] () throws(StoreError) in
            guard let self, self.lock.withLock({ self.isOpen }) else {
                throw StoreError(.io, "the log is not open")
            }
            return try open()
        }
        lock.withLock { slots[ObjectIdentifier(slot)] = slot }
        return SQLiteLogReader(slot, of: self)
    }

    /// Lets connections be opened.
    func allow() {
        lock.withLock { isOpen = true }
    }

    /// Lets no connection be opened, and closes those that are.
    func closeAll() {
        // A slot in use holds its own lock and may ask for ours, so ours is free while we wait for it.
        let all = lock.withLock {
            isOpen = false
            return Array(slots.values)
        }
        for slot in all { slot.close() }
    }

    /// Forgets a reader, and closes its connection.
    func remove(_ slot: ReaderSlot) {
        lock.withLock { slots[ObjectIdentifier(slot)] = nil }
        slot.close()
    }
}
