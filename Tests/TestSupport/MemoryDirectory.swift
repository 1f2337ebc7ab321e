import Platform
package import TimerLog

/// The directory of a cluster in memory, for tests. It gives nodes the log of a `MemoryLogStore`. May be called on
/// any thread.
package final class MemoryDirectory: ClusterDirectory {
    private struct Entry {
        var node: ClusterNode
        var promised: Int64 = 0
        var isEnded = false
    }

    private struct State {
        var entries: [Int64: Entry] = [:]
        var format: Int

        func isLive(_ session: Int64) -> Bool { entries[session].map { !$0.isEnded } ?? false }
    }

    private let store: MemoryLogStore
    private let realtime: @Sendable () -> Int64
    private let state: Guarded<State>

    /// Makes an empty directory: the log belongs to session 0, which has ended.
    ///
    /// - Parameters:
    ///   - format: the format of rows before the first take.
    ///   - realtime: the directory's calendar clock.
    package init(
        _ store: MemoryLogStore, format: Int = Int(BatchHeader.format),
        realtime: @escaping @Sendable () -> Int64 = Clocks.realtime
    ) {
        self.store = store
        self.realtime = realtime
        state = Guarded(State(format: format))
    }

    /// Enters a session; see `ClusterDirectory.join`.
    package func join(_ node: ClusterNode) throws(StoreError) {
        state.withLock { state in
            if state.entries[node.session] == nil { state.entries[node.session] = Entry(node: node) }
        }
    }

    /// Counts a beat; see `ClusterDirectory.beat`.
    package func beat(_ beat: NodeBeat) throws(StoreError) -> ClusterView {
        state.withLock { state in
            let isLive = state.isLive(beat.session)
            if isLive, var entry = state.entries[beat.session] {
                entry.node.beat += 1
                entry.node.skew = beat.skew
                entry.node.isLeaving = beat.isLeaving
                entry.node.memory = beat.memory
                entry.promised = max(entry.promised, beat.promised)
                state.entries[beat.session] = entry
            }
            let owner = store.owner
            let nodes = state.entries.values.filter { !$0.isEnded }.map { entry in
                var node = entry.node
                node.unread = node.followed.map { followed in
                    node.session == owner.session ? UnreadRows(count: 0, bytes: 0) : store.unread(after: followed)
                }
                return node
            }
            return ClusterView(
                isLive: isLive, nodes: nodes.sorted { $0.session < $1.session }, owner: owner, end: store.end,
                format: state.format, realtime: realtime())
        }
    }

    /// Ends a session; see `ClusterDirectory.end`.
    package func end(_ session: Int64, at beat: Int64) throws(StoreError) -> Bool {
        state.withLock { state in
            guard state.isLive(session), state.entries[session]?.node.beat == beat else { return false }
            state.entries[session]?.isEnded = true
            return true
        }
    }

    /// Ends the caller's own session; see `ClusterDirectory.leave`.
    package func leave(_ session: Int64, promised: Int64) throws(StoreError) {
        state.withLock { state in
            guard state.isLive(session), var entry = state.entries[session] else { return }
            entry.isEnded = true
            entry.promised = min(entry.promised, promised)
            state.entries[session] = entry
        }
    }

    /// Takes the log; see `ClusterDirectory.take`.
    package func take(_ order: TakeOrder) throws(StoreError) -> TakeOutcome {
        state.withLock { state in
            let owner = store.owner
            let isOwn = owner.session == order.session
            guard owner.epoch == order.epoch, state.isLive(order.session), isOwn || !state.isLive(owner.session) else {
                return .refused
            }
            let promised = isOwn ? 0 : state.entries[owner.session]?.promised ?? 0
            state.format = max(state.format, state.entries[order.session]?.node.reads ?? 0)
            return .taken(store.beginEpoch(session: order.session, after: max(order.clock, promised)))
        }
    }

    /// Gives the log to another session; see `ClusterDirectory.give`.
    package func give(_ order: TakeOrder) throws(StoreError) -> TakeOutcome {
        state.withLock { state in
            let owner = store.owner
            guard owner.epoch == order.epoch, owner.session == order.from, state.isLive(order.session),
                state.entries[order.session]?.node.isLeaving == false
            else { return .refused }
            return .taken(store.beginEpoch(session: order.session, after: order.clock))
        }
    }

    /// Does nothing: an append to memory is over at once.
    package func endConnections(of session: Int64) throws(StoreError) -> Int { 0 }

    /// Forgets ended sessions; see `ClusterDirectory.forget`.
    package func forget(promisedBefore position: Int64) throws(StoreError) -> Int {
        state.withLock { state in
            let owner = store.owner.session
            let old = state.entries.filter { session, entry in
                entry.isEnded && entry.promised < position && session != owner
            }
            for session in old.keys { state.entries[session] = nil }
            return old.count
        }
    }

    /// Does nothing.
    package func close() {}
}
