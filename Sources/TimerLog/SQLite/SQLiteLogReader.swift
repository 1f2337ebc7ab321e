internal import Platform

/// The readers of a store, and whether they may read: no connection may be left while the store opens again.
final class ReaderGate: Sendable {
    private struct State {
        var isOpen = false
        var slots: [ObjectIdentifier: ReaderSlot] = [:]
    }

    private let state = Guarded(State())

    /// Makes a reader whose connection `open` opens, once it is used while the gate is open; else its reads throw
    /// `io`.
    func makeReader(_ open: @escaping @Sendable () throws(StoreError) -> RowQueries) -> SQLiteLogReader {
        let slot = ReaderSlot { [weak self] () throws(StoreError) in
            guard let self, self.state.withLock({ $0.isOpen }) else {
                throw StoreError(.io, "the log is not open")
            }
            return try open()
        }
        state.withLock { $0.slots[ObjectIdentifier(slot)] = slot }
        return SQLiteLogReader(slot, of: self)
    }

    /// Allows connections to be opened.
    func allow() {
        state.withLock { $0.isOpen = true }
    }

    /// Allows no connection to be opened, and closes those that are open.
    func closeAll() {
        // A slot in use holds its own lock and may ask for the gate's, so the gate's is not held while a slot is
        // closed.
        let all = state.withLock { state in
            state.isOpen = false
            return Array(state.slots.values)
        }
        for slot in all { slot.close() }
    }

    /// Forgets a reader, and closes its connection.
    func remove(_ slot: ReaderSlot) {
        state.withLock { $0.slots[ObjectIdentifier(slot)] = nil }
        slot.close()
    }
}
