import TestSupport
import TimerCluster
import TimerLog

@testable import TimerService

/// Histories in which partitions are spread over the processes, which give them to each other.
extension ClusterHistory {
    /// Whether the history of a seed is one of them; in the others one process owns all partitions.
    static func spreads(_ seed: UInt64) -> Bool { [0, 3].contains(seed % 5) }

    /// Does what a membership asks for a hand-over.
    func handOver(_ step: MembershipStep, _ process: ClusterProcess) {
        let isSlow = isChaotic && random.chance(oneIn: 8)
        switch step {
        case .prepare(let number):
            schedule(after: random.number(0...(isSlow ? 2000 : 10) * Self.millisecond), on: process) {
                [unowned self] in prepare(number, process)
            }
        case .forget(let number): process.followed.forget(number)
        case .release(let number):
            schedule(after: random.number(0...(isSlow ? 500 : 2) * Self.millisecond), on: process) {
                [unowned self] in release(number, process)
            }
        case .tell(let session, let message): send(message, from: process.membership.session, to: session)
        default: break
        }
    }

    private func prepare(_ number: Int, _ process: ClusterProcess) {
        var rows = 0
        var failure: StoreError?
        if isCutOff(process) {
            failure = Self.failure
        } else {
            do throws(StoreError) { rows = try process.prepare(number) } catch { failure = error }
        }
        schedule(after: random.number(0...5 * Self.millisecond), on: process) { [unowned self, rows, failure] in
            perform(process.membership.prepared(number, rows: rows, failure, at: process.machine.instant), process)
        }
    }

    private func release(_ number: Int, _ process: ClusterProcess) {
        guard let partition = process.owned[number] else { return released(number, nil, process) }
        note("\(process.machine.number) releases \(number)")
        process.beginRelease(partition)
        awaitRelease(partition, process)
    }

    private func awaitRelease(_ partition: Partition, _ process: ClusterProcess) {
        guard partition.isRetired || partition.hasEnded, !process.isCommitting else {
            return schedule(after: Self.millisecond, on: process) { [unowned self] in
                awaitRelease(partition, process)
            }
        }
        // It was dropped meanwhile.
        guard process.owned[partition.number] === partition else { return released(partition.number, nil, process) }
        let clock = process.finishRelease(partition)
        schedule(after: random.number(0...Self.millisecond), on: process) { [unowned self] in
            released(partition.number, clock, process)
        }
    }

    private func released(_ number: Int, _ clock: Int64?, _ process: ClusterProcess) {
        perform(process.membership.released(number, promised: clock, at: process.machine.instant), process)
    }

    // What processes say to each other.

    private func send(_ message: PeerMessage, from sender: Int64, to session: Int64) {
        if time.now < silentUntil || isChaotic && random.chance(oneIn: 10) { return }
        for _ in 0..<(isChaotic && random.chance(oneIn: 10) ? 2 : 1) {
            let isLate = isChaotic && random.chance(oneIn: 10)
            schedule(after: random.number(100_000...(isLate ? 5000 : 3) * Self.millisecond)) { [unowned self] in
                deliver(message, from: sender, to: session)
            }
        }
    }

    private func deliver(_ message: PeerMessage, from sender: Int64, to session: Int64) {
        guard let process = processes.first(where: { !$0.isDead && $0.membership.session == session }) else { return }
        // What is sent to a process that stands still waits in its socket.
        schedule(after: 0, on: process) { [unowned self] in
            note("\(process.machine.number) hears \(message) from \(sender)")
            perform(process.membership.heard(message, from: sender, at: process.machine.instant), process)
        }
    }

    /// A mistake: a give whose answer did not come counts as none, and the process serves on.
    func serveOn(_ order: TakeOrder, _ process: ClusterProcess) {
        let owner = PartitionOwner(partition: order.partition, epoch: order.epoch, session: order.from)
        guard process.owned[order.partition] == nil, (try? process.adopt(owner)) != nil else { return }
        process.kept.insert(order.partition)
    }

    // What is promised to those who put the records of several partitions into one order.

    /// A stream at some process asks another one how far it has been told everything of a partition.
    func askPromise() {
        schedule(after: random.number(0...30 * Self.millisecond)) { [unowned self] in askPromise() }
        let owning = processes.filter { $0.isAwake && !$0.owned.all.isEmpty }
        guard let process = owning.randomElement(using: &random),
            let partition = process.owned.all.randomElement(using: &random)
        else { return }
        let wanted = partition.engine.clockPosition + random.number(-200...1000) * (CalendarPosition.perSecond / 1000)
        // The thread that asks may be late.
        let delay = random.chance(oneIn: 4) ? random.number(0...1500 * Self.millisecond) : 0
        schedule(after: delay, on: process) { [unowned self] in
            if partition.hasEnded { return }
            let through = partition.engine.promise(through: wanted)
            try audit.promised(through: through, shown: partition.hub.head, in: partition.number)
        }
    }

    // How all is in the end.

    /// Every partition is where the plan wants it, and served there.
    func checkSpread() throws(BrokenPromise) {
        let plan = OwnershipPlan(
            nodes: processes.map {
                ClusterNode(
                    session: $0.membership.session, url: "http://node-\($0.machine.number)", reads: 1, speaks: 1)
            }, firstOwner: nil, partitions: layout.count)
        for owner in volume.owners {
            let number = owner.partition
            try promise(plan.sessions[number] == owner.session, "partition \(number) is not where the plan wants it")
            let serving = processes.filter { $0.owned[number] != nil }
            try promise(
                serving.count == 1 && serving[0].mayAnswer && serving[0].membership.session == owner.session,
                "partition \(number) is not served by its owner alone")
        }
    }
}

extension SharedAudit {
    /// Somebody was promised that he has been shown everything of a partition up to `position`.
    mutating func promised(through position: Int64, shown: Int64, in partition: Int) throws(BrokenPromise) {
        promisedThrough[partition] = max(promisedThrough[partition] ?? 0, position)
        let newest = newestRecord(of: partition, atMost: position)
        try promise(
            newest <= shown,
            "all of partition \(partition) up to \(position) is promised, and \(newest) is not shown yet: \(shown) is")
    }
}
