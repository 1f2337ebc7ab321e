import TestSupport
import TimerCluster
import TimerLog

/// The events of a simulated cluster.
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
            switch call.request {
            case .take, .give: try look()
            default: break
            }
            return
        case .appends(let row, let session, let isAnswered): return append(row, session, isAnswered, event)
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
                node.leaseEnd = max(node.leaseEnd, now.boottime + node.membership.timing.lease)
            }
            perform(node.membership.answered(call, answer, at: now), node)
        case .opens(let owner, var error):
            let view = store.seen(by: owner.session)
            if error == nil {
                do throws(StoreError) {
                    let head = try view.open()
                    node.served = .init(session: owner.session, store: view, head: head)
                    if node.reads < written { unable = node.number }
                    written = max(written, node.reads)
                    schedule(.sendsAppend, node: node.number, after: random.number(0...Self.second))
                } catch let thrown { error = thrown }
            }
            schedule(.adopted(owner, error), node: node.number, after: random.number(0...Self.millisecond))
        case .adopted(let owner, let error):
            perform(node.membership.adopted(owner, error, at: now), node)
        case .drops:
            node.served = nil
            perform(node.membership.dropped(at: now), node)
        case .releases:
            if bug != .givesWhileServing { node.served = nil }
            perform(node.membership.released(CalendarPosition.at(realtime: now.realtime), at: now), node)
        case .sendsAppend: sendAppend(node)
        case .appendAnswered(let row, let session, let outcome): appendAnswered(row, session, outcome, node)
        case .leaves: perform(node.membership.leave(at: now), node)
        case .performs, .appends, .fault: break
        }
    }

    func perform(_ steps: [MembershipStep], _ node: SimulatedNode) {
        for step in steps {
            note("node \(node.number) \(step)")
            switch step {
            case .call(let call): send(call, node)
            case .extendLease(let end):
                let wall = bug == .wallClockLease ? node.now(at: time).realtime - node.boottime(at: time) : 0
                if bug != .leaseFromAnswer { node.leaseEnd = max(node.leaseEnd, end + wall) }
            case .revokeLease: node.leaseEnd = .min
            case .adopt(let owner):
                var error: StoreError? = isChaotic && random.chance(oneIn: 10) ? Self.failure : nil
                if node.isUnable { error = StoreError(.unusable, "a zone that this node lacks") }
                let isSlow = isChaotic && random.chance(oneIn: 5)
                let delay = random.number(Self.millisecond...(isSlow ? 3000 : 50) * Self.millisecond)
                schedule(.opens(owner, error), node: node.number, after: delay)
            case .drop: schedule(.drops, node: node.number, after: random.number(0...Self.millisecond))
            case .release:
                let delay = random.number(0...(isChaotic && random.chance(oneIn: 5) ? 4000 : 20) * Self.millisecond)
                schedule(.releases, node: node.number, after: delay)
            case .handOverEnded, .read: break
            case .report(let event):
                if case .ended = event { ends += 1 }
                if case .handedOver = event { handOvers += 1 }
            }
        }
        if node.membership.hasLeft {
            // A process that does not read the log's format ends by itself, and a newer one is installed.
            if !node.isStopping { node.installed = formats.upperBound }
            crash(node, forSeconds: 1)
        }
    }

    private func send(_ call: DirectoryCall, _ node: SimulatedNode) {
        if case .take = call.request { takes += 1 }
        let call = call.reporting(node.isWarm ? .through(store.end) : .cold)
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
            // The call may have its effect all the same, now or later.
            if isDown || random.chance(oneIn: 2) { return }
            let late = random.chance(oneIn: 2) ? 0 : random.number(0...8 * Self.second)
            schedule(.performs(call, deadline: 0), node: node.number, after: delay + late)
            return
        }
        schedule(.performs(call, deadline: time + limit), node: node.number, after: delay)
    }

    private func perform(_ call: DirectoryCall, _ deadline: Int64, _ event: Event) {
        var call = call
        if bug == .formatNotRaised, case .join(var node) = call.request {
            node.reads = 1
            call.request = .join(node)
        }
        var answer = call.perform(on: directory)
        if bug == .takeUnchecked, case .take(let order) = call.request, case .take(.refused) = answer {
            answer = .take(.taken(store.beginEpoch(session: order.session, after: order.clock)))
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

    private func sendAppend(_ node: SimulatedNode) {
        guard let served = node.served else { return }
        schedule(.sendsAppend, node: node.number, after: random.number(0...2 * Self.second))
        guard !served.isAppending, isLeaseValid(node) else { return }
        node.served?.isAppending = true
        let first = served.head.last + AppendRules.settlements + 1
        let row = LogRow(
            first: first, last: first, previous: served.head.last, epoch: served.head.epoch, data: pattern(first, 80))
        // An append may be under way for long, also after its node has ended.
        let isLate = isChaotic && random.chance(oneIn: 10)
        schedule(
            .appends(row, session: served.session, isAnswered: !isLate || random.chance(oneIn: 2)),
            node: node.number, after: random.number(0...(isLate ? 8000 : 5) * Self.millisecond))
    }

    private func append(_ row: LogRow, _ session: Int64, _ isAnswered: Bool, _ event: Event) {
        let view = store.seen(by: bug == .appendWithoutEpoch ? store.owner.session : session)
        var row = row
        var (expecting, epoch) = (row.previous, row.epoch)
        var outcome = AppendOutcome.fenced
        if let head = try? view.open() {
            // The row keeps its own epoch, as a writer that looks at none would write it.
            if bug == .appendWithoutEpoch && head.epoch != epoch {
                (expecting, epoch) = (head.last, head.epoch)
                row.previous = head.last
                row.first = max(row.first, head.last + 1)
                row.last = row.first
            }
            outcome = view.append([row], expecting: expecting, epoch: epoch)
        }
        events.append(
            Event(
                time: time + random.number(0...5 * Self.millisecond), node: event.node, life: event.life,
                happening: .appendAnswered(row, session: session, isAnswered ? outcome : nil)))
    }

    private func appendAnswered(_ row: LogRow, _ session: Int64, _ outcome: AppendOutcome?, _ node: SimulatedNode) {
        guard let served = node.served, served.session == session else { return }
        node.served?.isAppending = false
        switch outcome {
        case .durable:
            node.served?.head.last = row.last
            acknowledged.append(row)
        case .fenced: perform(node.membership.fenced(at: node.now(at: time)), node)
        default:
            if let head = try? served.store.open(), head.epoch == row.epoch { node.served?.head = head }
        }
    }

    // MARK: Faults

    private func fault() {
        guard let node = nodes.randomElement(using: &random) else { return }
        let length = random.number(100...8000) * Self.millisecond
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2:
            note("node \(node.number) stands still for \(length)")
            node.pausedUntil = time + length
            // A virtual machine that was frozen may come back with an old calendar.
            if random.chance(oneIn: 4) { node.wallOffset -= length }
        case 3, 4:
            crash(node, forSeconds: random.number(0...5))
            node.installed = Int.random(in: formats, using: &random)
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
        case 10, 11:
            guard let owner = nodes.first(where: { $0.isAwake && $0.served != nil }) else { return }
            handOver(owner)
        case 8: node.wallOffset += random.number(-300...300) * Self.millisecond
        default: node.wallOffset += random.number(-3000...3000) * Self.millisecond
        }
    }

    /// Asks a node to hand the log over to any other.
    func handOver(_ node: SimulatedNode) {
        note("node \(node.number) is to hand the log over")
        perform(node.membership.handOver(to: nil, patience: 7 * Self.second, at: node.now(at: time)), node)
    }

    func crash(_ node: SimulatedNode, forSeconds seconds: Int64) {
        note("node \(node.number) crashes")
        node.isRunning = false
        node.pausedUntil = nil
        node.waiting = []
        node.served = nil
        node.leaseEnd = .min
        node.restartAt = time + seconds * Self.second
    }

    /// Ends all faults and their effects.
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
