import TestSupport
import TimerCluster
import TimerLog

@testable import TimerService

/// Appends to the shared logs, and what becomes of them.
extension ClusterHistory {
    /// What becomes of a statement.
    private enum Fate {
        case lands
        /// Nothing reaches the database, and the process knows.
        case refused
        /// The process never hears of it; it is carried out now, later, or never.
        case unheard(after: Int64?)
    }

    private func decide(_ process: ClusterProcess) -> (fate: Fate, lasts: Int64) {
        var lasts = random.number(100_000...4 * Self.millisecond)
        if isCutOff(process) {
            return (random.chance(oneIn: 2) ? .refused : .unheard(after: nil), lasts)
        }
        guard isChaotic, random.chance(oneIn: 12) else { return (.lands, lasts) }
        if random.chance(oneIn: 3) { lasts = random.number(0...5 * Self.second) }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return (.refused, lasts)
        case 1, 2: return (.unheard(after: nil), lasts)
        case 3: return (.unheard(after: random.number(0...max(1, lasts))), lasts)
        case 4, 5: return (.unheard(after: lasts + random.number(0...8 * Self.second)), lasts)
        default: return (.lands, lasts)
        }
    }

    /// The committer of a process appends. While that is under way, all others go on.
    func append(_ appends: [PartitionAppend], _ session: Int64, _ process: ClusterProcess) -> [AppendOutcome] {
        let (fate, lasts) = decide(process)
        let unknown = appends.map { _ in AppendOutcome.unknown(Self.failure) }
        if process.isDead { return unknown }
        var outcomes = unknown
        switch fate {
        case .lands:
            let landsAfter = random.number(0...lasts)
            within {
                try run(until: time.now + landsAfter)
                outcomes = try land(appends, session)
                try run(until: time.now + lasts - landsAfter)
            }
        case .refused:
            within { try run(until: time.now + lasts) }
            outcomes = appends.map { _ in .absent(Self.failure) }
        case .unheard(let delay):
            note("\(process.machine.number) does not hear of an append to \(appends.map(\.partition)), \(delay ?? -1)")
            if let delay { landLater(appends, session, after: delay, isLate: delay > lasts) }
            within { try run(until: time.now + lasts) }
        }
        standStill(process)
        if process.isDead { return unknown }
        process.asksForLease = outcomes.contains(.durable)
        return outcomes
    }

    private func landLater(_ appends: [PartitionAppend], _ session: Int64, after delay: Int64, isLate: Bool) {
        schedule(after: delay) { [unowned self] in
            let outcomes = try land(appends, session)
            if isLate && outcomes.contains(.durable) { tally.lateLandings += 1 }
            note("the append to \(appends.map(\.partition)) is carried out: \(outcomes)")
        }
    }

    /// A statement is carried out.
    private func land(_ appends: [PartitionAppend], _ session: Int64) throws -> [AppendOutcome] {
        if bug == .appendWithoutFence { return try landUnfenced(appends) }
        let view = volume.seen(by: session)
        var outcomes: [AppendOutcome] = []
        for append in appends {
            do throws(StoreError) { _ = try view.store(append.partition).open() } catch {
                outcomes.append(.fenced)
                continue
            }
            let outcome = view.append([append])[0]
            outcomes.append(outcome)
            if outcome == .durable { for row in append.rows { try audit.land(row) } }
        }
        return outcomes
    }

    /// A statement that looks at no epoch is carried out: its rows go to the end of the log.
    private func landUnfenced(_ appends: [PartitionAppend]) throws -> [AppendOutcome] {
        for append in appends {
            let view = volume.seen(by: volume.owners[append.partition].session)
            let head = try view.store(append.partition).open()
            var (append, outcome) = (append, AppendOutcome.fenced)
            append.expecting = head.last
            append.epoch = head.epoch
            append.rows[0].previous = head.last
            outcome = view.append([append])[0]
            if outcome == .durable { for row in append.rows { try audit.land(row) } }
        }
        return appends.map { _ in .durable }
    }

    /// A call of the process does not return while the process stands still.
    func standStill(_ process: ClusterProcess) {
        within {
            while let until = process.pausedUntil, !process.isDead { try run(until: until) }
        }
    }

    /// The committer of a process asks what became of appends.
    func settle(_ appends: [PartitionAppend], _ session: Int64, _ process: ClusterProcess) -> [Settlement] {
        let (fate, lasts) = decide(process)
        var settlements = appends.map { _ in Settlement.unknown(Self.failure) }
        if process.isDead { return settlements }
        within {
            try run(until: time.now + lasts / 2)
            switch fate {
            case .lands: settlements = try settle(appends, session)
            case .refused, .unheard(after: nil): break
            case .unheard(let delay):
                schedule(after: delay ?? 0) { [unowned self] in _ = try settle(appends, session) }
            }
            try run(until: time.now + lasts / 2)
        }
        standStill(process)
        if process.isDead { return appends.map { _ in .unknown(Self.failure) } }
        process.asksForLease = settlements.contains(where: \.hasLanded)
        return settlements
    }

    /// Begins a further epoch of the session behind what its logs hold, then looks.
    private func settle(_ appends: [PartitionAppend], _ session: Int64) throws -> [Settlement] {
        var settlements: [Settlement] = []
        for append in appends {
            if bug == .appendsWithoutSettling {
                settlements.append(
                    .absent(
                        StoreHead(epoch: append.epoch, last: append.expecting, secret: SimulatedStore.secret)))
                continue
            }
            guard volume.owners[append.partition].session == session, let first = append.rows.first?.first else {
                settlements.append(.fenced)
                continue
            }
            tally.settled += 1
            let hasLanded = audit.holds(first, in: append.partition)
            let barrier = volume.beginEpoch(of: append.partition, session: session, behind: 0)
            try audit.land(barrier: barrier.epoch, at: barrier.position, in: append.partition)
            let head = StoreHead(epoch: barrier.epoch, last: barrier.position, secret: SimulatedStore.secret)
            if hasLanded {
                settlements.append(.landed(head))
            } else if barrier.position < first {
                settlements.append(.absent(head))
            } else {
                // There was room for so many settlements.
                mayFold = true
                settlements.append(.diverged(StoreError(.io, "the log goes on")))
            }
        }
        return settlements
    }

    /// The committer waits until what it committed may be shown.
    func awaitLease(_ process: ClusterProcess) {
        note("\(process.machine.number) waits for its lease")
        within {
            while !process.isDead, !process.lease.isValid, process.owned.all.contains(where: { !$0.hasEnded }) {
                try run(until: time.now + 10 * Self.millisecond)
                standStill(process)
            }
        }
        tally.withheld += 1
        // Nothing is shown once the history is over.
        if broken != nil { process.kill() }
    }

    /// Makes the waiting batches of a process durable.
    func commit(_ process: ClusterProcess) throws {
        process.isCommitting = true
        for partition in process.workingPartitions { partition.callCommitter() }
        _ = process.committer.step()
        process.isCommitting = false
        process.asksForLease = false
        if let broken { throw broken }
        let isFolded = process.owned.all.contains { $0.engine.restarts > 0 }
        try promise(mayFold || !isFolded, "\(process.machine.number) folds a log anew without a cause")
        schedule(after: random.number(0...Self.millisecond), on: process) { [unowned self] in try resolve(process) }
    }
}
