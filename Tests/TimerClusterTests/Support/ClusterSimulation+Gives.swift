import TestSupport
import TimerCluster
import TimerLog

/// Partitions that change hands by plan, and what nodes say to each other.
extension ClusterSimulation {
    /// Does what a membership asks for a hand-over.
    func handOver(_ step: MembershipStep, _ node: SimulatedNode) {
        let isSlow = isChaotic && random.chance(oneIn: 6)
        switch step {
        case .prepare(let partition):
            let error: StoreError? =
                isChaotic && random.chance(oneIn: 12) ? StoreError(.unavailable, "it was asked for") : nil
            let rows = random.chance(oneIn: 3) ? Int(random.number(0...300)) : 0
            schedule(
                .prepared(partition, rows: rows, error), node: node.number,
                after: random.number(0...(isSlow ? 4000 : 100) * Self.millisecond))
        case .release(let partition):
            schedule(
                .releases(partition), node: node.number,
                after: random.number(0...(isSlow ? 4000 : 20) * Self.millisecond))
        case .tell(let session, let message): send(message, to: session, node)
        default: break
        }
    }

    private func send(_ message: PeerMessage, to session: Int64, _ node: SimulatedNode) {
        if isChaotic && random.chance(oneIn: 8) { return }
        let copies = isChaotic && random.chance(oneIn: 8) ? 2 : 1
        for _ in 0..<copies {
            let isLate = isChaotic && random.chance(oneIn: 8)
            schedule(
                .hears(message, from: node.membership.session, to: session), node: node.number,
                after: random.number(100_000...(isLate ? 5000 : 3) * Self.millisecond))
        }
    }

    /// A message arrives where it is meant to.
    func deliver(_ message: PeerMessage, from sender: Int64, to session: Int64) {
        guard let target = nodes.first(where: { $0.isRunning && $0.membership.session == session }) else { return }
        if target.pausedUntil != nil {
            return target.waiting.append(.hears(message, from: sender, to: session))
        }
        note("node \(target.number) hears \(message) from \(sender)")
        perform(target.membership.heard(message, from: sender, at: target.now(at: time)), target)
    }

    /// A node stops serving a partition that it is to give.
    func release(_ partition: Int, _ node: SimulatedNode) {
        let now = node.now(at: time)
        let known = node.served[partition] != nil
        node.parked[partition] = node.served[partition]
        if bug != .servesWhileGiving { node.served[partition] = nil }
        let clock = CalendarPosition.at(realtime: now.realtime)
        perform(node.membership.released(partition, promised: known ? clock : nil, at: now), node)
    }

    /// A node was told what came of a give.
    func answered(_ order: TakeOrder, _ answer: DirectoryAnswer, _ node: SimulatedNode) {
        if case .take(.taken) = answer { gives += 1 }
        if bug == .takesUnknownGiveForNone, case .failed = answer, let parked = node.parked[order.partition] {
            node.served[order.partition] = parked
        }
    }

    /// Once nothing goes wrong, and all speak to each other, partitions are where the plan wants them.
    func checkPlan() throws(Broken) {
        let running = nodes.filter(\.isRunning)
        if running.contains(where: { $0.speaks == 0 }) { return }
        let plan = OwnershipPlan(
            nodes: running.map {
                ClusterNode(session: $0.membership.session, url: $0.url, reads: 2, speaks: 1)
            }, firstOwner: nil, partitions: epochs.count)
        for owner in owners() where plan.sessions[owner.partition] != owner.session {
            throw broken("partition \(owner.partition) is not where the plan wants it")
        }
    }
}
