import TimerCluster
import TimerLog

/// The actions that lead from a state to the next ones.
extension ClusterModel {
    enum Action: Equatable {
        /// Half a second passes; in the next one this server comes first.
        case tick(first: Int)
        /// A membership is woken, as it asked for.
        case wake(Int)
        /// A statement is carried out and answered.
        case answer(Int, ModelServer.Lane)
        /// The host does its next work.
        case work(Int)
        /// The host, which ends the log to hand it over, no longer waits for an append whose outcome is open.
        case giveUp(Int)
        /// A row that is durable is shown, as the lease is valid again.
        case show(Int)
        // The requests of clients and operators.
        case append(Int)
        case handOver(Int)
        case leave(Int)
        // Faults.
        case hold(Int, ModelServer.Lane)
        case holdWork(Int)
        case pause(Int)
        case kill(Int)
        // Parts of a statement that a fault has left open.
        case resume(Int)
        /// A statement reads its snapshot, is committed, or is answered.
        case plan(Int, ModelServer.Lane)
        case commit(Int, ModelServer.Lane)
        case deliver(Int, ModelServer.Lane)
        /// No answer comes, and the statement may still be carried out.
        case fail(Int, ModelServer.Lane)
        case planStray(Int)
        case commitStray(Int)
    }

    /// The next thing that a server does unless it is held.
    private func next(_ index: Int) -> Action? {
        let server = servers[index]
        guard server.isAwake else { return nil }
        if case .drop = server.work.first, !server.isWorkHeld { return .work(index) }
        for lane in ModelServer.Lane.allCases {
            guard let flight = server[lane], !flight.isHeld else { continue }
            if case .done = flight.stage { return .deliver(index, lane) }
            return .answer(index, lane)
        }
        if server.membership.nextWake <= now(index).boottime { return .wake(index) }
        if let served = server.served, served.task == .landed, isLeaseValid(index) { return .show(index) }
        guard let work = server.work.first, !server.isWorkHeld, server[.host] == nil else { return nil }
        if work == .release, server.served?.row != nil { return nil }
        return .work(index)
    }

    /// All actions that are possible.
    var actions: [Action] {
        var actions: [Action] = []
        var isBusy = false
        for index in [first, 1 - first] {
            if !isBusy, let next = next(index) {
                actions.append(next)
                isBusy = true
                addFaults(before: next, index, &actions)
            }
            addHeld(index, &actions)
        }
        for index in strays.indices {
            if case .sent = strays[index].stage, strays[index].statement.hasPhases { actions.append(.planStray(index)) }
            actions.append(.commitStray(index))
        }
        if !isBusy {
            for index in servers.indices {
                addPauses(index, &actions)
                addRequests(index, &actions)
            }
            let isToAppend = left.appendsAlways && actions.contains { if case .append = $0 { true } else { false } }
            if left.ticks > 0, !isToAppend { actions.append(.tick(first: 0)) }
            if left.ticks > 0, !isToAppend, left.bothOrders { actions.append(.tick(first: 1)) }
        }
        return actions
    }

    private func addFaults(before next: Action, _ index: Int, _ actions: inout [Action]) {
        guard left.faults > 0 else { return }
        switch next {
        case .answer(_, let lane): actions.append(.hold(index, lane))
        case .work: actions.append(.holdWork(index))
        default: break
        }
        addPauses(index, &actions)
    }

    /// Pauses and kills. A pause counts from the next thing that the server would have done.
    private func addPauses(_ index: Int, _ actions: inout [Action]) {
        guard left.faults > 0, servers[index].isAwake else { return }
        actions.append(.pause(index))
        if left.kills { actions.append(.kill(index)) }
    }

    private func addRequests(_ index: Int, _ actions: inout [Action]) {
        let server = servers[index]
        guard server.isAwake else { return }
        if server.served?.row != nil, server.work.first == .release { actions.append(.giveUp(index)) }
        guard let served = server.served, isLeaseValid(index) else { return }
        if left.appends > 0, !server.isReleasing, served.task == .idle, served.appendedAt < time {
            actions.append(.append(index))
        }
        guard server.membership.clusterState.isServing, !server.membership.isHandingOver else { return }
        let isFit = server.membership.clusterState.nodes.contains { $0.session != served.session && $0.isFit }
        if left.handOvers > 0, isFit { actions.append(.handOver(index)) }
        if left.leaves { actions.append(.leave(index)) }
    }

    private func addHeld(_ index: Int, _ actions: inout [Action]) {
        let server = servers[index]
        if server.isPaused { actions.append(.resume(index)) }
        if server.isAwake, server.isWorkHeld { actions.append(.work(index)) }
        for lane in ModelServer.Lane.allCases {
            guard let flight = server[lane], flight.isHeld || server.isPaused else { continue }
            switch flight.stage {
            case .sent:
                if flight.statement.hasPhases { actions.append(.plan(index, lane)) }
                actions.append(.commit(index, lane))
            case .planned: actions.append(.commit(index, lane))
            case .done: if server.isAwake { actions.append(.deliver(index, lane)) }
            }
            if flight.isHeld, server.isAwake { actions.append(.fail(index, lane)) }
        }
    }

    /// Does an action, and looks whether what must hold still does.
    mutating func take(_ action: Action) {
        switch action {
        case .tick(let first):
            time += 1
            self.first = first
            left.ticks -= 1
        case .wake(let index): change(index) { $0.wake(at: $1) }
        case .answer(let index, let lane):
            commit(index, lane)
            answer(index, lane)
        case .work(let index), .giveUp(let index): work(index)
        case .show(let index): show(index)
        case .append(let index): append(index)
        case .handOver(let index):
            left.handOvers -= 1
            change(index) { $0.handOver(to: nil, patience: 7_000_000_000, at: $1) }
        case .leave(let index):
            left.leaves = false
            let claimed = servers[index].served.map { max($0.last, $0.givenOut, calendar(index)) }
            change(index) { $0.leave(promised: claimed ?? 0, at: $1) }
        case .hold, .holdWork, .pause, .kill: fail(action)
        case .resume(let index):
            servers[index].isPaused = false
            if servers[index].served != nil, !isLeaseValid(index) { seen.insert(.resumedAfterLease) }
        case .plan(let index, let lane): servers[index][lane]?.plan(database)
        case .commit(let index, let lane): commit(index, lane)
        case .deliver(let index, let lane): answer(index, lane)
        case .fail(let index, let lane):
            if let flight = servers[index][lane] { leave(flight) }
            deliver(index, lane, .failed)
        case .planStray(let index): strays[index].plan(database)
        case .commitStray(let index):
            var flight = strays.remove(at: index)
            switch carryOut(&flight) {
            case .inserted, .answer(.take(.taken)): seen.insert(.late)
            default: break
            }
        }
        check()
    }

    /// Injects a fault.
    private mutating func fail(_ action: Action) {
        left.faults -= 1
        switch action {
        case .hold(let index, let lane): servers[index][lane]?.isHeld = true
        case .holdWork(let index): servers[index].isWorkHeld = true
        case .pause(let index): servers[index].isPaused = true
        case .kill(let index): restart(index)
        default: break
        }
    }

    private mutating func commit(_ index: Int, _ lane: ModelServer.Lane) {
        guard var flight = servers[index][lane] else { return }
        carryOut(&flight)
        servers[index][lane] = flight
    }

    /// Answers a statement that was carried out.
    private mutating func answer(_ index: Int, _ lane: ModelServer.Lane) {
        guard case .done(let reply)? = servers[index][lane]?.stage else { return }
        deliver(index, lane, reply)
    }

    /// Carries out a statement, and looks at the row that it has written.
    @discardableResult
    private mutating func carryOut(_ flight: inout ModelServer.Flight) -> ModelReply {
        if case .sent = flight.stage { flight.plan(database) }
        guard case .planned(let plan) = flight.stage else { return .nothing }
        let epoch = database.owner.epoch
        let before = database.owner.session
        let reply = database.commit(flight.statement, plan)
        flight.stage = .done(reply)
        if case .append = flight.statement, case .inserted(let row) = reply, row.epoch != epoch {
            broken = "a row of epoch \(row.epoch) is written, and the log has epoch \(epoch)"
        }
        let owner = database.owner.session
        if owner != before, claimed.session != owner, claimed.position >= place(reply) {
            broken = "session \(owner) goes on at \(place(reply)), and \(claimed.position) was shown"
        }
        return reply
    }

    private func place(_ reply: ModelReply) -> Int64 {
        if case .answer(.take(.taken(let barrier))) = reply { barrier.position } else { .max }
    }

    // MARK: What must hold

    private mutating func check() {
        if !strays.isEmpty { strays = strays.filter { !isVain($0) } }
        guard broken == nil else { return }
        let showing = servers.indices.filter { isShowing($0) }
        if showing.count > 1 { broken = "both servers show the log" }
        for index in showing {
            guard let served = servers[index].served else { continue }
            if served.session != database.owner.session {
                broken = "server \(index) shows the log, which session \(database.owner.session) owns"
            }
            if acknowledged.contains(where: { $0.position > served.last }) {
                broken = "server \(index) shows the log without an acknowledged row"
            }
            let position = max(calendar(index), served.givenOut)
            if position > claimed.position { claimed = (position, served.session) }
        }
        if checked.rows != database.rows.count || checked.acknowledged != acknowledged.count { checkLog() }
    }

    private mutating func checkLog() {
        checked = (database.rows.count, acknowledged.count)
        for (row, after) in zip(database.rows, database.rows.dropFirst()) {
            if after.previous != row.position { broken = "the chain of rows breaks at \(after.position)" }
            if after.epoch < row.epoch { broken = "epoch \(after.epoch) follows \(row.epoch)" }
        }
        let requests = database.rows.compactMap(\.request)
        if Set(requests).count < requests.count { broken = "a request is carried out twice" }
        for row in acknowledged {
            guard database.rows.contains(where: { $0.position == row.position && $0.request == row.request }) else {
                broken = "the acknowledged row at \(row.position) is lost"
                return
            }
        }
        if Set(acknowledged.map(\.position)).count < acknowledged.count { broken = "a position is given twice" }
    }

    /// Whether a statement can't have an effect any more, so that nothing is left open by it.
    private func isVain(_ flight: ModelServer.Flight) -> Bool {
        guard bug == .none else { return false }
        if case .planned(let plan) = flight.stage {
            switch plan {
            case .nothing: return true
            case .insert(let row): return database.rows.contains { $0.previous == row.previous }
            case .begin(_, let before, _): return database.owner != before
            }
        }
        switch flight.statement {
        case .end, .chain: return true
        case .append(_, let row, _): return database.owner.epoch > row.epoch
        case .reopen(_, let epoch, _): return database.owner.epoch > epoch
        case .call(let call):
            switch call.request {
            case .take(let order), .give(let order): return database.owner.epoch > order.epoch
            case .beat, .leave: return database.node(call.session)?.isEnded == true
            case .end(let node): return database.node(node.session).map { $0.isEnded || $0.beat > node.beat } ?? true
            case .join: return database.node(call.session) != nil
            case .endConnections, .forget: return true
            }
        }
    }
}

extension ModelServer.Flight {
    /// Reads the snapshot.
    mutating func plan(_ database: ModelDatabase) { stage = .planned(database.plan(statement)) }
}
