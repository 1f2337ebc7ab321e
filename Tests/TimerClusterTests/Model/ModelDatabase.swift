import TimerCluster
import TimerLog

/// The tables `timerd_node`, `timerd_owner` and `timerd_log` as a value, with the statements of `DirectoryStatements`
/// and `LogStatements`.
///
/// A statement that writes to the log has two phases, as in PostgreSQL under READ COMMITTED: it reads a snapshot, then
/// it inserts its row and commits. Others may commit in between, so only what the second phase checks protects the log:
/// the key of the row, and the owner's row where the statement updates that. No statement waits for another's lock.
struct ModelDatabase {
    /// A row of `timerd_log`; its key is `previous`.
    struct Row: Hashable {
        var previous: Int64
        /// `first` and `last`, as a row has one record here.
        var position: Int64
        var epoch: Int64
        /// The request whose change the row holds; nil in a barrier.
        var request: Int?
    }

    /// A row of `timerd_node`.
    struct Node: Hashable {
        var session: Int64
        var beat: Int64 = 0
        var promised: Int64 = 0
        var isEnded = false
        var url = ""
        var skew: Int64?
        var isLeaving = false
        var memory = LogMemory.cold
    }

    /// The row of `timerd_owner`.
    struct Owner: Hashable {
        var epoch: Int64 = 0
        var session: Int64 = 0
    }

    /// Session 0 owns the log at first, and has ended.
    var nodes = [Node(session: 0, isEnded: true)]
    var owner = Owner()
    /// A log without records ends in a row at position 0.
    private(set) var rows = [Row(previous: -1, position: 0, epoch: 0, request: nil)]
    /// The hash of all rows.
    private var digest = 0
    let bug: ClusterModel.Bug

    init(bug: ClusterModel.Bug) { self.bug = bug }

    func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
        hasher.combine(owner.epoch)
        hasher.combine(owner.session)
        for node in nodes {
            hasher.combine(node.session)
            hasher.combine(node.beat)
            hasher.combine(node.promised)
            hasher.combine(node.isEnded)
            hasher.combine(node.isLeaving)
            hasher.combine(node.memory)
            hasher.combine(node.skew)
        }
    }

    private mutating func write(_ row: Row) {
        rows.append(row)
        var hasher = Hasher()
        hasher.combine(digest)
        hasher.combine(row)
        digest = hasher.finalize()
    }

    var end: Int64 { rows[rows.count - 1].position }

    func node(_ session: Int64) -> Node? { nodes.first { $0.session == session } }

    private func isLive(_ session: Int64) -> Bool { node(session)?.isEnded == false }

    private func holds(key: Int64) -> Bool { rows.contains { $0.previous == key } }
}

/// A statement on its way to the database.
enum ModelStatement {
    /// A statement of the directory.
    case call(DirectoryCall)
    /// `timerd_append` of one row by the session, whose newest row has the key `tail`.
    case append(session: Int64, row: ModelDatabase.Row, tail: Int64)
    /// `timerd_log_end`.
    case end
    /// `timerd_reopen`: `first` is the position of the row whose outcome is open, 0 where there is none.
    case reopen(session: Int64, epoch: Int64, first: Int64)
    /// `timerd_chain`.
    case chain(after: Int64)

    /// Whether the statement reads before it inserts.
    var hasPhases: Bool {
        switch self {
        case .append, .reopen: true
        case .call(let call):
            switch call.request {
            case .take, .give: true
            default: false
            }
        case .end, .chain: false
        }
    }
}

/// The row that a statement is about to insert, by its snapshot.
enum ModelPlan: Hashable {
    /// The statement's conditions do not hold.
    case nothing
    case insert(ModelDatabase.Row)
    /// The statement updates the owner as well, if that is still `before`.
    case begin(ModelDatabase.Row, before: ModelDatabase.Owner, session: Int64)
}

/// The answer of the database.
enum ModelReply {
    case answer(DirectoryAnswer)
    case inserted(ModelDatabase.Row)
    case nothing
    /// The key is taken.
    case duplicate
    case end(owner: ModelDatabase.Owner, newest: ModelDatabase.Row)
    case chain([ModelDatabase.Row])
    /// The outcome is not known.
    case failed
}

extension ModelDatabase {
    /// The first phase: what a statement does by its snapshot.
    func plan(_ statement: ModelStatement) -> ModelPlan {
        switch statement {
        case .append(let session, let row, let tail):
            let isOwner = owner == Owner(epoch: row.epoch, session: session)
            let isEnd = rows.contains { $0.previous == tail && $0.position == row.previous }
            return bug == .appendWithoutFence || isOwner && isEnd ? .insert(row) : .nothing
        case .reopen(let session, let epoch, let first):
            guard owner == Owner(epoch: epoch, session: session) else { return .nothing }
            let place = end < first ? max(first - AppendRules.settlements, end + 1) : end + 1
            return begin(session, at: place)
        case .call(let call):
            switch call.request {
            case .take(let order): return plan(take: order)
            case .give(let order): return plan(give: order)
            default: return .nothing
            }
        case .end, .chain: return .nothing
        }
    }

    private func begin(_ session: Int64, at place: Int64) -> ModelPlan {
        .begin(
            Row(previous: end, position: place, epoch: owner.epoch + 1, request: nil), before: owner, session: session)
    }

    /// `timerd_take`.
    private func plan(take order: TakeOrder) -> ModelPlan {
        guard let before = node(owner.session) else { return .nothing }
        let isKnown = bug == .takeAtAnyEpoch || owner.epoch == order.epoch
        let isFree = bug == .takeAtAnyEpoch || before.isEnded || owner.session == order.session
        guard isKnown, isFree, isLive(order.session) else { return .nothing }
        let promised = before.isEnded && bug != .takeForgetsPromise ? before.promised : 0
        let clock = bug == .takeForgetsPromise ? 0 : order.clock
        return begin(order.session, at: max(end, promised, clock) + 1)
    }

    /// `timerd_give`.
    private func plan(give order: TakeOrder) -> ModelPlan {
        guard owner == Owner(epoch: order.epoch, session: order.from), let node = node(order.session),
            !node.isEnded, !node.isLeaving
        else { return .nothing }
        return begin(order.session, at: max(end, order.clock) + 1)
    }

    /// The second phase: inserts what the statement has planned, and commits.
    mutating func commit(_ statement: ModelStatement, _ plan: ModelPlan) -> ModelReply {
        switch statement {
        case .append:
            guard case .insert(let row) = plan else { return .nothing }
            if bug == .appendWithoutFence {
                // The row goes to the end of the log, wherever that is.
                write(Row(previous: end, position: max(row.position, end + 1), epoch: row.epoch, request: row.request))
                return .inserted(row)
            }
            if holds(key: row.previous) { return .duplicate }
            write(row)
            return .inserted(row)
        case .reopen: return begin(plan, hasBarrier: true)
        case .end: return .end(owner: owner, newest: rows[rows.count - 1])
        case .chain(let position): return .chain(rows.filter { $0.previous >= position })
        case .call(let call): return .answer(answer(call, statement, plan))
        }
    }

    /// Begins an epoch. The update of the owner waits for others and looks at the newest owner.
    private mutating func begin(_ plan: ModelPlan, hasBarrier: Bool) -> ModelReply {
        guard case .begin(var row, let before, let session) = plan else { return .nothing }
        if bug == .takeAtAnyEpoch { row.previous = end } else if owner != before { return .nothing }
        if hasBarrier && holds(key: row.previous) { return .duplicate }
        if hasBarrier { write(row) }
        owner = Owner(epoch: row.epoch, session: session)
        return .inserted(row)
    }

    private mutating func answer(
        _ call: DirectoryCall, _ statement: ModelStatement, _ planned: ModelPlan
    ) -> DirectoryAnswer {
        switch call.request {
        case .take, .give:
            var reply = begin(planned, hasBarrier: bug != .takeWithoutBarrier)
            // `PostgresDirectory` repeats a statement whose key an append has just taken.
            if case .duplicate = reply { reply = begin(plan(statement), hasBarrier: true) }
            guard case .inserted(let row) = reply else { return .take(.refused) }
            return .take(.taken(Barrier(epoch: row.epoch, previous: row.previous, position: row.position)))
        case .join(let node):
            if self.node(node.session) == nil {
                nodes.append(Node(session: node.session, url: node.url, skew: node.skew, isLeaving: node.isLeaving))
                nodes.sort { $0.session < $1.session }
            }
            return .done
        case .beat(let beat): return .view(count(beat, at: call.issuedAt))
        case .end(let node):
            guard let index = nodes.firstIndex(where: { $0.session == node.session && $0.beat == node.beat }),
                !nodes[index].isEnded
            else { return .ended(false) }
            nodes[index].isEnded = true
            return .ended(true)
        case .leave(let promised):
            if let index = nodes.firstIndex(where: { $0.session == call.session && !$0.isEnded }) {
                nodes[index].isEnded = true
                nodes[index].promised = min(nodes[index].promised, promised)
            }
            return .done
        case .endConnections, .forget: return .count(0)
        }
    }

    /// `timerd_beat`. The directory's calendar is not compared with: it shows what the node's does.
    private mutating func count(_ beat: NodeBeat, at sent: ClusterInstant) -> ClusterView {
        let index = nodes.firstIndex { $0.session == beat.session && !$0.isEnded }
        if let index {
            nodes[index].beat += 1
            nodes[index].promised = max(nodes[index].promised, beat.promised)
            nodes[index].skew = beat.skew
            nodes[index].isLeaving = beat.isLeaving
            nodes[index].memory = beat.memory
        }
        let live = nodes.filter { !$0.isEnded }.map {
            ClusterNode(
                session: $0.session, beat: $0.beat, url: $0.url, reads: ModelServer.reads, skew: $0.skew,
                isLeaving: $0.isLeaving, memory: $0.memory)
        }
        return ClusterView(
            isLive: index != nil, nodes: live, owner: LogOwner(epoch: owner.epoch, session: owner.session), end: end,
            format: ModelServer.reads, realtime: sent.realtime)
    }
}
