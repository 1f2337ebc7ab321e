import TimerCluster
import TimerLog

/// The host of the log and its committer, which do what `TimerService`, `PostgresLogStore` and `LogAppender` do.
extension ClusterModel {
    static let failure = StoreError(.unavailable, "an outcome that is not known")

    /// Takes the answer to the statement of a thread.
    mutating func deliver(_ index: Int, _ lane: ModelServer.Lane, _ reply: ModelReply) {
        guard let flight = servers[index][lane] else { return }
        servers[index].free(lane)
        switch (flight.statement, lane) {
        case (.call(let call), _):
            guard case .answer(let answer) = reply else {
                return change(index) { $0.answered(call, .failed(Self.failure), at: $1) }
            }
            note(call, answer)
            change(index) { $0.answered(call, answer, at: $1) }
        case (_, .host): opened(index, flight.statement, reply)
        case (.append(let session, let row, _), _) where servers[index].served == nil:
            // Only a server with the mistake is still told.
            if case .inserted = reply { acknowledge(row, by: session, index) }
        default: committed(index, reply)
        }
    }

    private mutating func note(_ call: DirectoryCall, _ answer: DirectoryAnswer) {
        switch (call.request, answer) {
        case (.take, .take(.taken)): seen.insert(.taken)
        case (.take, .take(.refused)): seen.insert(.refusedTake)
        case (.give, .take(.taken)): seen.insert(.given)
        default: break
        }
    }

    // MARK: The host

    /// Does the first work of a server's host.
    mutating func work(_ index: Int) {
        servers[index].isWorkHeld = false
        switch servers[index].work[0] {
        case .adopt: servers[index][.host] = ModelServer.Flight(statement: .end)
        case .adopted(let owner, let error):
            servers[index].work.removeFirst()
            change(index) { $0.adopted(owner, error, at: $1) }
        case .drop:
            servers[index].work.removeFirst()
            drop(index)
            change(index) { $0.dropped(at: $1) }
        case .release:
            servers[index].work.removeFirst()
            servers[index].isReleasing = false
            let claimed = servers[index].served.map { max($0.last, $0.givenOut, calendar(index)) }
            drop(index, keepsAppend: bug == .giveKeepsAppend)
            let told = bug == .giveForgetsClaims ? claimed.map { _ in 0 } : claimed
            change(index) { $0.released(told, at: $1) }
        }
    }

    /// Drops the log of a server. The statement of its committer goes on.
    private mutating func drop(_ index: Int, keepsAppend: Bool = false) {
        servers[index].served = nil
        guard !keepsAppend, let flight = servers[index][.committer] else { return }
        servers[index][.committer] = nil
        leave(flight)
    }

    /// Goes on with the opening of the log: `PostgresLogStore.open`.
    private mutating func opened(_ index: Int, _ statement: ModelStatement, _ reply: ModelReply) {
        guard case .adopt(let owner) = servers[index].work.first else { return }
        var outcome: StoreError? = StoreError(.fenced, "another session owns the log")
        switch (statement, reply) {
        case (.end, .end(let found, let newest)) where found.session == owner.session:
            if servers[index].isUnsettled {
                let reopen = ModelStatement.reopen(session: found.session, epoch: found.epoch, first: 0)
                servers[index][.host] = ModelServer.Flight(statement: reopen)
                return
            }
            serve(index, found.session, found.epoch, newest)
            outcome = nil
        case (.reopen, .inserted(let barrier)):
            serve(index, owner.session, barrier.epoch, barrier)
            outcome = nil
        case (.reopen, .nothing), (.reopen, .duplicate):
            servers[index][.host] = ModelServer.Flight(statement: .end)
            return
        case (_, .failed): outcome = Self.failure
        default: break
        }
        servers[index].work[0] = .adopted(owner, outcome)
    }

    private mutating func serve(_ index: Int, _ session: Int64, _ epoch: Int64, _ newest: ModelDatabase.Row) {
        servers[index].isUnsettled = false
        servers[index].served = ModelServer.Served(
            session: session, epoch: epoch, tail: newest.previous, last: newest.position, givenOut: newest.position)
    }

    // MARK: The committer

    /// Begins an append of a new row, for a request.
    mutating func append(_ index: Int) {
        guard var served = servers[index].served else { return }
        served.givenOut = max(calendar(index), max(served.last, served.givenOut) + AppendRules.settlements + 1)
        served.row = ModelDatabase.Row(
            previous: served.last, position: served.givenOut, epoch: served.epoch, request: requests)
        served.appendedAt = time
        requests += 1
        left.appends -= 1
        send(served, index)
    }

    private mutating func send(_ served: ModelServer.Served, _ index: Int) {
        guard let row = served.row else { return }
        go(served, .appending, .append(session: served.session, row: row, tail: served.tail), index)
    }

    private mutating func go(
        _ served: ModelServer.Served, _ task: ModelServer.Served.Task, _ statement: ModelStatement, _ index: Int
    ) {
        servers[index].served = served
        servers[index].served?.task = task
        servers[index][.committer] = ModelServer.Flight(statement: statement)
    }

    /// Goes on with an append, or with its settling: `LogAppender.append` and `settle`, and `StorageRecovery`.
    private mutating func committed(_ index: Int, _ reply: ModelReply) {
        guard let served = servers[index].served else { return }
        switch (served.task, reply) {
        case (.appending, .inserted(let row)): land(served, tail: row.previous, last: row.position, index)
        case (.appending, .failed): appendFailed(served, index)
        case (.appending, _): go(served, .looking, .end, index)
        case (.looking, .failed): send(served, index)
        case (.looking, .end(let owner, let newest)):
            guard owner == .init(epoch: served.epoch, session: served.session) else { return fence(index) }
            guard newest.previous == served.tail, newest.position == served.last else { return fold(served, index) }
            send(served, index)
        case (.settling, .end(let owner, _)):
            guard owner.session == served.session else { return fence(index) }
            let first = served.row?.position ?? 0
            go(served, .reopening, .reopen(session: served.session, epoch: owner.epoch, first: first), index)
        case (.reopening, .inserted(let barrier)):
            go(served, .reading(barrier), .chain(after: served.row?.previous ?? 0), index)
        case (.reading(let barrier), .chain(let rows)): judge(served, barrier, rows, index)
        case (.settling, _), (.reopening, _), (.reading, _): go(served, .settling, .end, index)
        case (.folding, .end(let owner, let newest)): folded(served, owner, newest, index)
        case (.folding, _): go(served, .folding, .end, index)
        case (.idle, _), (.landed, _), (.looking, _): break
        }
    }

    private mutating func appendFailed(_ served: ModelServer.Served, _ index: Int) {
        switch bug {
        case .unknownIsDurable:
            land(served, tail: served.row?.previous ?? 0, last: served.row?.position ?? 0, index)
        case .appendsElsewhere: go(served, .folding, .end, index)
        default:
            servers[index].isUnsettled = true
            go(served, .settling, .end, index)
        }
    }

    /// Finds out whether a row is durable, by the rows that follow the end that its append expected.
    private mutating func judge(
        _ served: ModelServer.Served, _ barrier: ModelDatabase.Row, _ rows: [ModelDatabase.Row], _ index: Int
    ) {
        guard var row = served.row else { return }
        var served = served
        servers[index].isUnsettled = false
        (served.epoch, served.tail, served.last) = (barrier.epoch, barrier.previous, barrier.position)
        let own = rows.prefix { $0.request != nil }
        let isOwn = own.allSatisfy { $0.position == row.position && $0.epoch == row.epoch }
        guard rows.first?.previous == row.previous, rows.last?.position == barrier.position,
            rows[own.endIndex...].allSatisfy({ $0.request == nil }), own.count <= 1, isOwn
        else { return fold(served, index) }
        if own.count == 1 {
            seen.insert(.landed)
            return land(served, tail: barrier.previous, last: barrier.position, index)
        }
        guard barrier.position < row.position else { return fold(served, index) }
        seen.insert(.absent)
        (row.previous, row.epoch) = (barrier.position, barrier.epoch)
        served.row = row
        send(served, index)
    }

    /// Reads the log again. The client is told that its outcome is unknown.
    private mutating func fold(_ served: ModelServer.Served, _ index: Int) {
        var served = served
        served.row = nil
        go(served, .folding, .end, index)
    }

    private mutating func folded(
        _ served: ModelServer.Served, _ owner: ModelDatabase.Owner, _ newest: ModelDatabase.Row, _ index: Int
    ) {
        guard owner.session == served.session else { return fence(index) }
        var served = served
        (served.epoch, served.tail, served.last) = (owner.epoch, newest.previous, newest.position)
        served.task = .idle
        servers[index].served = served
        guard bug == .appendsElsewhere, var row = served.row else { return }
        served.givenOut = max(served.last, served.givenOut) + AppendRules.settlements + 1
        (row.previous, row.position, row.epoch) = (served.last, served.givenOut, served.epoch)
        served.row = row
        send(served, index)
    }

    private mutating func land(_ served: ModelServer.Served, tail: Int64, last: Int64, _ index: Int) {
        var served = served
        (served.tail, served.last, served.task) = (tail, last, .landed)
        servers[index].served = served
        if isLeaseValid(index) { show(index) } else { seen.insert(.withheld) }
    }

    /// Answers the client whose row is durable.
    mutating func show(_ index: Int) {
        guard let served = servers[index].served, let row = served.row else { return }
        servers[index].served?.task = .idle
        servers[index].served?.row = nil
        acknowledge(row, by: served.session, index)
    }

    private mutating func acknowledge(_ row: ModelDatabase.Row, by session: Int64, _ index: Int) {
        if database.owner.session != session {
            broken = "server \(index) answers a request, and session \(database.owner.session) owns the log"
        }
        acknowledged.append(row)
    }

    /// Ends the log of a server, as its append was refused.
    private mutating func fence(_ index: Int) {
        servers[index].served = nil
        change(index) { $0.fenced(at: $1) }
    }
}
