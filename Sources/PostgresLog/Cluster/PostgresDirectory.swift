internal import Platform
public import TimerLog

/// The directory of a cluster in PostgreSQL, over a connection of its own. Called by one thread at a time.
public final class PostgresDirectory: ClusterDirectory {
    /// How long the answer to a beat is waited for: if its connection is dead, there is time for another beat
    /// before the lease is over.
    public static let beatLimit: Int64 = 1_250_000_000
    /// How long a take waits for a lock that a statement of the old owner holds.
    public static let lockLimit: Int64 = 500_000_000
    /// The most tries of a statement that collides with another one.
    private static let tries = 4

    private struct State {
        var session: Int64 = 0
        var link: PostgresLink
        /// The backend whose `lock_timeout` has been set.
        var backend: Int32?
    }

    private let address: PostgresAddress
    private let timeouts: PostgresTimeouts
    private let state: Guarded<State>

    /// Makes a directory that connects when it is first called.
    public init(_ address: PostgresAddress) {
        self.address = address
        var timeouts = PostgresTimeouts()
        timeouts.connect = Self.beatLimit
        self.timeouts = timeouts
        state = Guarded(State(link: Self.link(address, 0, timeouts)))
    }

    private static func link(_ address: PostgresAddress, _ session: Int64, _ timeouts: PostgresTimeouts) -> PostgresLink
    {
        PostgresLink(address, for: PostgresConnection.Purpose(session: session), timeouts)
    }

    /// Enters a session; see `ClusterDirectory.join`.
    public func join(_ node: ClusterNode) throws(StoreError) {
        _ = try run(
            DirectoryStatements.join, "joining the cluster", session: node.session, within: Self.beatLimit,
            [
                .int8(node.session), .text(node.url), .text(node.peer), .int4(Int32(node.reads)),
                .int8(node.skew ?? .min), .bool(node.isLeaving),
            ])
    }

    /// Counts a beat; see `ClusterDirectory.beat`.
    public func beat(_ beat: NodeBeat) throws(StoreError) -> ClusterView {
        let found = try run(
            DirectoryStatements.beat, "beating", session: beat.session, within: Self.beatLimit,
            [
                .int8(beat.session), .int8(beat.promised), .int8(beat.skew ?? .min), .bool(beat.isLeaving),
                .int8(beat.memory.stored),
            ])
        guard found.count > 0 else { throw StoreError(.damaged, "the table timerd_owner is damaged: it has no row") }
        let isLive = found.bool(0, 0)
        var nodes: [ClusterNode] = []
        for row in 0..<found.count where !found.isNull(row, 5) {
            let skew = found.integer(row, 10)
            var node = ClusterNode(
                session: found.integer(row, 5), beat: found.integer(row, 6), url: found.text(row, 7),
                peer: found.text(row, 8), reads: Int(found.integer(row, 9)), skew: skew == .min ? nil : skew,
                isLeaving: found.bool(row, 11), memory: LogMemory(stored: found.integer(row, 12)))
            if node.session == beat.session {
                // The statement reads the nodes as they were before it.
                guard isLive else { continue }
                node.beat += 1
                node.skew = beat.skew
                node.isLeaving = beat.isLeaving
                node.memory = beat.memory
            }
            if node.followed != nil {
                node.unread = UnreadRows(count: Int(found.integer(row, 14)), bytes: Int(found.integer(row, 15)))
            }
            nodes.append(node)
        }
        return ClusterView(
            isLive: isLive, nodes: nodes,
            owner: LogOwner(epoch: found.integer(0, 1), session: found.integer(0, 2)),
            end: found.isNull(0, 13) ? 0 : found.integer(0, 13), format: Int(found.integer(0, 3)),
            realtime: found.integer(0, 4) * 1000)
    }

    /// Ends a session; see `ClusterDirectory.end`.
    public func end(_ session: Int64, at beat: Int64) throws(StoreError) -> Bool {
        let found = try run(
            DirectoryStatements.end, "ending the session of a node that is silent", within: Self.beatLimit,
            [.int8(session), .int8(beat)])
        return found.changed == 1
    }

    /// Ends the caller's own session; see `ClusterDirectory.leave`.
    public func leave(_ session: Int64, promised: Int64) throws(StoreError) {
        _ = try run(
            DirectoryStatements.leave, "leaving the cluster", session: session, within: Self.beatLimit,
            [.int8(session), .int8(promised)])
    }

    /// Takes the log; see `ClusterDirectory.take`.
    public func take(_ order: TakeOrder) throws(StoreError) -> TakeOutcome {
        try begin(DirectoryStatements.take, "taking the log", order, by: order.session, [])
    }

    /// Gives the log to another session; see `ClusterDirectory.give`.
    public func give(_ order: TakeOrder) throws(StoreError) -> TakeOutcome {
        try begin(
            DirectoryStatements.give, "giving the log to another server", order, by: order.from, [.int8(order.from)])
    }

    private func begin(
        _ statement: PostgresStatement, _ activity: String, _ order: TakeOrder, by caller: Int64,
        _ more: [PostgresValue]
    ) throws(StoreError) -> TakeOutcome {
        let values: [PostgresValue] = [
            .int8(order.session), .int8(order.epoch), .int8(order.clock), .bytes(BatchRows.barrier()),
        ]
        var tried = 0
        while true {
            tried += 1
            do throws(PostgresFailure) {
                let found = try attempt(statement, session: caller, within: timeouts.statement, values + more)
                guard found.count > 0 else { return .refused }
                return .taken(
                    Barrier(
                        epoch: found.integer(0, 0), previous: found.integer(0, 1), position: found.integer(0, 2)))
            } catch {
                guard error.isCertain else { throw error.passingError(activity) }
                if error.isLockTimeout { return .blocked }
                // An append of the old owner has just been committed, or another node takes as well.
                let isMet = error.isDuplicate || error.isCollision
                guard isMet && tried < Self.tries else { throw error.passingError(activity) }
            }
        }
    }

    /// Closes the connections of a session; see `ClusterDirectory.endConnections`.
    public func endConnections(of session: Int64) throws(StoreError) -> Int {
        let name = PostgresConnection.Purpose(session: session).applicationName
        let found = try run(DirectoryStatements.endConnections, "ending a session's connections", [.text(name)])
        return Int(found.integer(0, 0))
    }

    /// Forgets ended sessions; see `ClusterDirectory.forget`.
    public func forget(promisedBefore position: Int64) throws(StoreError) -> Int {
        try run(DirectoryStatements.forget, "forgetting ended sessions", [.int8(position)]).changed
    }

    /// Closes the connection; the next call opens it again.
    public func close() { state.withLock { $0.link }.close() }

    private func run(
        _ statement: PostgresStatement, _ activity: String, session: Int64? = nil, within limit: Int64? = nil,
        _ values: [PostgresValue]
    ) throws(StoreError) -> PostgresResult {
        do throws(PostgresFailure) {
            return try attempt(statement, session: session, within: limit ?? timeouts.statement, values)
        } catch {
            throw error.passingError(activity)
        }
    }

    private func attempt(
        _ statement: PostgresStatement, session: Int64?, within limit: Int64, _ values: [PostgresValue]
    ) throws(PostgresFailure) -> PostgresResult {
        let end = Clocks.monotonic() + limit
        let (link, told) = link(for: session)
        let result = try link.use { connection throws(PostgresFailure) -> PostgresResult in
            if connection.backend != told {
                try connection.execute(
                    "SET lock_timeout = \(Self.lockLimit / 1_000_000)", within: max(1, end - Clocks.monotonic()))
                state.withLock { $0.backend = connection.backend }
            }
            return try connection.run(statement, values, within: max(1, end - Clocks.monotonic()))
        }
        // A warning means that the commit is not known to be on the standby that it was to wait for.
        if let warning = result.warning { throw PostgresFailure(warning, isCertain: false) }
        return result
    }

    /// Returns the link of `session` (nil: of the last one), whose connection bears the session's name on the
    /// server: statements that it leaves under way can be ended with the session.
    private func link(for session: Int64?) -> (PostgresLink, Int32?) {
        state.withLock { state in
            if let session, session != state.session {
                state.link.close()
                state = State(session: session, link: Self.link(address, session, timeouts))
            }
            return (state.link, state.backend)
        }
    }
}

/// The column `followed` of `timerd_node`: a position, or a negative number where a node has none.
extension LogMemory {
    private static let (cold, warming): (Int64, Int64) = (-1, -2)

    fileprivate init(stored: Int64) {
        self = stored >= 0 ? .through(stored) : stored == Self.warming ? .warming : .cold
    }

    fileprivate var stored: Int64 {
        switch self {
        case .cold: Self.cold
        case .warming: Self.warming
        case .through(let position): position
        }
    }
}
