import TestSupport
import TimerCluster
import TimerLog

/// What happens in a simulated cluster.
extension ClusterSimulation {
    private static let failure = StoreError(.unavailable, "a failure that was asked for")
    static let millisecond: Int64 = 1_000_000

    func happen(_ event: Event) throws(Broken) {
        let node = nodes[event.node]
        switch event.happening {
        case .fault:
            if isChaotic {
                fault()
                schedule(.fault, node: 0, after: random.number(0...3 * Self.second))
            }
            return
        // The directory and the log work whatever becomes of the node.
        case .performs(let call, let deadline):
            perform(call, deadline, event)
            if case .take = call.request { try look() }
            return
        case .appends(let partition, let session, let append, let isAnswered):
            return self.append(partition, session, append, isAnswered, event)
        default: break
        }
        guard event.life == node.life, node.isRunning else { return }
        if node.pausedUntil != nil {
            node.waiting.append(event.happening)
            return
        }
        tell(event.happening, node)
    }

    private func tell(_ happening: Happening, _ node: SimulatedNode) {
        let now = node.now(at: time)
        switch happening {
        case .answers(let call, let answer):
            if bug == .leaseFromAnswer, case .view(let view) = answer, view.isLive {
                node.leaseEnd = max(node.leaseEnd, now.boottime + MembershipTiming.lease)
            }
            perform(node.membership.answered(call, answer, at: now), node)
        case .opens(let owner, var error):
            let store = volume.seen(by: owner.session).store(owner.partition)
            if error == nil {
                do throws(StoreError) {
                    let head = try store.open()
                    node.served[owner.partition] = .init(session: owner.session, store: store, head: head)
                    schedule(.sendsAppend(owner.partition), node: node.number, after: random.number(0...Self.second))
                } catch let thrown { error = thrown }
            }
            schedule(.adopted(owner, error), node: node.number, after: random.number(0...Self.millisecond))
        case .adopted(let owner, let error):
            perform(node.membership.adopted(owner, error, at: now), node)
        case .drops(let partitions):
            for partition in partitions { node.served[partition] = nil }
            perform(node.membership.dropped(partitions, at: now), node)
        case .sendsAppend(let partition): sendAppend(partition, node)
        case .appendAnswered(let partition, let session, let append, let outcome):
            appendAnswered(partition, session, append, outcome, node)
        case .leaves: perform(node.membership.leave(at: now), node)
        case .performs, .appends, .fault: break
        }
    }

    func perform(_ steps: [MembershipStep], _ node: SimulatedNode) {
        for step in steps {
            note("node \(node.number) \(step)")
            switch step {
            case .call(let call): send(call, node)
            case .extendLease(let end, _):
                let wall = bug == .wallClockLease ? node.now(at: time).realtime - node.boottime(at: time) : 0
                if bug != .leaseFromAnswer { node.leaseEnd = max(node.leaseEnd, end + wall) }
            case .revokeLease: node.leaseEnd = .min
            case .adopt(let owner):
                let error: StoreError? = isChaotic && random.chance(oneIn: 10) ? Self.failure : nil
                let isSlow = isChaotic && random.chance(oneIn: 5)
                let delay = random.number(Self.millisecond...(isSlow ? 3000 : 50) * Self.millisecond)
                schedule(.opens(owner, error), node: node.number, after: delay)
            case .drop(let partitions):
                schedule(.drops(partitions), node: node.number, after: random.number(0...Self.millisecond))
            case .report(let event):
                if case .ended = event { ends += 1 }
                if case .took = event { takeovers += 1 }
            }
        }
        if node.isStopping && node.membership.hasLeft { crash(node, forSeconds: 1) }
    }

    private func send(_ call: DirectoryCall, _ node: SimulatedNode) {
        if case .take = call.request { takes += 1 }
        var delay = random.number(100_000...3 * Self.millisecond)
        if time < slowUntil { delay = random.number(0...1500 * Self.millisecond) }
        // The process stops between reading the clock and sending.
        if isChaotic && random.chance(oneIn: 300) {
            let pause = random.number(0...6 * Self.second)
            node.pausedUntil = max(node.pausedUntil ?? 0, time + pause)
            delay += pause
        }
        let limit = (call.isUrgent ? 1250 : 5000) * Self.millisecond + delay
        let isDown = time + delay < outageUntil
        if isDown || isChaotic && random.chance(oneIn: 50) {
            let isHanging = !isDown || random.chance(oneIn: 4)
            schedule(
                .answers(call, .failed(Self.failure)), node: node.number,
                after: isHanging ? limit : delay + Self.millisecond)
            // It may have its effect all the same, now or later.
            if isDown || random.chance(oneIn: 2) { return }
            let late = random.chance(oneIn: 2) ? 0 : random.number(0...8 * Self.second)
            schedule(.performs(call, deadline: 0), node: node.number, after: delay + late)
            return
        }
        schedule(.performs(call, deadline: time + limit), node: node.number, after: delay)
    }

    private func perform(_ call: DirectoryCall, _ deadline: Int64, _ event: Event) {
        var answer = call.perform(on: directory)
        if bug == .takeOfTheLiving, case .take(let order) = call.request, case .take(.refused) = answer {
            let barrier = volume.takeOfTheLiving(order)
            answer = barrier.map { .take(.taken($0)) } ?? answer
        }
        if case .take(.taken(let barrier)) = answer { note("node \(event.node) has \(call.request) by \(barrier)") }
        guard deadline > 0 else { return }
        var delay = random.number(100_000...3 * Self.millisecond)
        if time < slowUntil { delay = random.number(0...1500 * Self.millisecond) }
        if time + delay > deadline { (answer, delay) = (.failed(Self.failure), max(0, deadline - time)) }
        events.append(
            Event(time: time + delay, node: event.node, life: event.life, happening: .answers(call, answer)))
    }

    // MARK: Appends

    private func sendAppend(_ partition: Int, _ node: SimulatedNode) {
        guard var served = node.served[partition] else { return }
        schedule(.sendsAppend(partition), node: node.number, after: random.number(0...2 * Self.second))
        guard !served.isAppending, isLeaseValid(node) else { return }
        served.isAppending = true
        node.served[partition] = served
        let first = served.head.last + 1024 * 17
        let row = LogRow(
            first: first, last: first, previous: served.head.last, partition: Int32(partition), stride: 1024,
            epoch: served.head.epoch, data: pattern(first, 80))
        let append = PartitionAppend(
            partition: partition, rows: [row], expecting: served.head.last, epoch: served.head.epoch)
        // An append may be under way for long, also after its node has ended.
        let isLate = isChaotic && random.chance(oneIn: 10)
        schedule(
            .appends(partition, session: served.session, append, isAnswered: !isLate || random.chance(oneIn: 2)),
            node: node.number, after: random.number(0...(isLate ? 8000 : 5) * Self.millisecond))
    }

    private func append(
        _ partition: Int, _ session: Int64, _ append: PartitionAppend, _ isAnswered: Bool, _ event: Event
    ) {
        let view = volume.seen(by: bug == .appendWithoutEpoch ? owners()[partition].session : session)
        var append = append
        var outcome = AppendOutcome.fenced
        if let head = try? view.store(partition).open() {
            if bug == .appendWithoutEpoch && head.epoch != append.epoch {
                append.expecting = head.last
                append.epoch = head.epoch
                append.rows[0].previous = head.last
                append.rows[0].first = max(append.rows[0].first, head.last + 1024)
                append.rows[0].last = append.rows[0].first
            }
            outcome = view.append([append])[0]
        }
        if outcome == .fenced { appendsFenced += 1 }
        events.append(
            Event(
                time: time + random.number(0...5 * Self.millisecond), node: event.node, life: event.life,
                happening: .appendAnswered(partition, session: session, append, isAnswered ? outcome : nil)))
    }

    private func appendAnswered(
        _ partition: Int, _ session: Int64, _ append: PartitionAppend, _ outcome: AppendOutcome?, _ node: SimulatedNode
    ) {
        guard var served = node.served[partition], served.session == session else { return }
        served.isAppending = false
        switch outcome {
        case .durable:
            served.head.last = append.rows[0].last
            acknowledged.append(.init(partition: partition, row: append.rows[0]))
        case .fenced: perform(node.membership.fenced(partition, at: node.now(at: time)), node)
        default:
            if let head = try? served.store.open(), head.epoch == append.epoch { served.head = head }
        }
        if node.served[partition] != nil { node.served[partition] = served }
    }

    // MARK: Faults

    private func fault() {
        guard let node = nodes.randomElement(using: &random) else { return }
        let length = random.number(100...8000) * Self.millisecond
        switch Int.random(in: 0..<10, using: &random) {
        case 0...2:
            note("node \(node.number) stands still for \(length)")
            node.pausedUntil = time + length
            // A virtual machine that was frozen may come back with an old calendar.
            if random.chance(oneIn: 4) { node.wallOffset -= length }
        case 3, 4: crash(node, forSeconds: random.number(0...5))
        case 5:
            note("outage of \(length)")
            outageUntil = time + length
        case 6: slowUntil = time + length
        case 7:
            guard node.isAwake, !node.isStopping else { return }
            node.isStopping = true
            perform(node.membership.drain(at: node.now(at: time)), node)
            schedule(
                .leaves, node: node.number,
                after: random.chance(oneIn: 2) ? 0 : random.number(0...4 * Self.second))
        case 8: node.wallOffset += random.number(-300...300) * Self.millisecond
        default: node.wallOffset += random.number(-3000...3000) * Self.millisecond
        }
    }

    func crash(_ node: SimulatedNode, forSeconds seconds: Int64) {
        note("node \(node.number) crashes")
        node.isRunning = false
        node.pausedUntil = nil
        node.waiting = []
        node.served = [:]
        node.leaseEnd = .min
        node.restartAt = time + seconds * Self.second
    }

    /// From now on nothing goes wrong.
    func calm() {
        note("calm")
        isChaotic = false
        (outageUntil, slowUntil) = (0, 0)
        for node in nodes {
            node.wallOffset = 0
            if node.pausedUntil != nil { node.pausedUntil = time }
            if node.restartAt != nil || node.isStopping {
                node.isRunning = false
                node.restartAt = time
            }
        }
    }
}

extension MemoryLogVolume {
    /// A take that looks at the epoch alone.
    fileprivate func takeOfTheLiving(_ order: TakeOrder) -> Barrier? {
        owners[order.partition].epoch == order.epoch
            ? beginEpoch(of: order.partition, session: order.session, behind: order.clock) : nil
    }
}
