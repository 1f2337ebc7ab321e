import TestSupport
import TimerCluster
import TimerLog

@testable import TimerService

/// Appends to the shared log, and their outcomes.
extension ClusterHistory {
    /// The fate of a statement.
    private enum Fate {
        case lands
        /// The statement does not reach the database, and the process knows.
        case refused
        /// The process receives no answer; the statement is carried out after so many nanoseconds, or never where
        /// that is nil.
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

    /// Appends for the committer of a process. All others go on while the append is under way.
    func append(_ append: ProcessStore.Append, _ process: ClusterProcess) -> AppendOutcome {
        let (fate, lasts) = decide(process)
        let unknown = AppendOutcome.unknown(Self.failure)
        if process.isDead { return unknown }
        var outcome = unknown
        switch fate {
        case .lands:
            let landsAfter = random.number(0...lasts)
            within {
                try run(until: time.now + landsAfter)
                outcome = try land(append)
                try run(until: time.now + lasts - landsAfter)
            }
        case .refused:
            within { try run(until: time.now + lasts) }
            outcome = .absent(Self.failure)
        case .unheard(let delay):
            note("\(process.machine.number) does not hear of an append, \(delay ?? -1)")
            if let delay { landLater(append, after: delay, isLate: delay > lasts) }
            within { try run(until: time.now + lasts) }
        }
        standStill(process)
        if process.isDead { return unknown }
        process.asksForLease = outcome == .durable
        return outcome
    }

    /// Schedules a statement that the database carries out without its sender's knowledge.
    private func scheduleStatement(after delay: Int64, _ statement: @escaping () throws -> Void) {
        faultsThrough = max(faultsThrough, time.now + delay)
        schedule(after: delay, statement)
    }

    private func landLater(_ append: ProcessStore.Append, after delay: Int64, isLate: Bool) {
        scheduleStatement(after: delay) { [unowned self] in
            let outcome = try land(append)
            if isLate && outcome == .durable { tally.lateLandings += 1 }
            note("an append is carried out: \(outcome)")
        }
    }

    /// Carries out the statement of an append.
    private func land(_ append: ProcessStore.Append) throws -> AppendOutcome {
        var append = append
        var view = store.seen(by: append.session)
        if bug == .appendWithoutFence {
            // The rows go to the end of the log, whoever owns it.
            view = store.seen(by: store.owner.session)
            let head = try view.open()
            (append.expecting, append.epoch) = (head.last, head.epoch)
            append.rows[0].previous = head.last
        }
        do throws(StoreError) { _ = try view.open() } catch { return .fenced }
        let outcome = view.append(append.rows, expecting: append.expecting, epoch: append.epoch)
        if outcome == .durable { for row in append.rows { try audit.land(row) } }
        return bug == .appendWithoutFence ? .durable : outcome
    }

    /// Keeps a call of the process from returning while the process is paused.
    func standStill(_ process: ClusterProcess) {
        within {
            while let until = process.pausedUntil, !process.isDead { try run(until: until) }
        }
    }

    /// Settles an append of unknown outcome for the committer of a process.
    func settle(_ append: ProcessStore.Append, _ process: ClusterProcess) -> Settlement {
        let (fate, lasts) = decide(process)
        let unknown = Settlement.unknown(Self.failure)
        if process.isDead { return unknown }
        var settlement = unknown
        within {
            try run(until: time.now + lasts / 2)
            switch fate {
            case .lands: settlement = try settle(append)
            case .refused, .unheard(after: nil): break
            case .unheard(let delay): scheduleStatement(after: delay ?? 0) { [unowned self] in _ = try settle(append) }
            }
            try run(until: time.now + lasts / 2)
        }
        standStill(process)
        if process.isDead { return unknown }
        process.asksForLease = settlement.hasLanded
        return settlement
    }

    /// Begins a further epoch of the session after the rows of the log, so that the append can't land any more, and
    /// returns whether it has landed.
    private func settle(_ append: ProcessStore.Append) throws -> Settlement {
        if bug == .appendsWithoutSettling {
            return .absent(StoreHead(epoch: append.epoch, last: append.expecting, secret: SimulatedStore.secret))
        }
        guard store.owner.session == append.session, let first = append.rows.first?.first else { return .fenced }
        tally.settled += 1
        let hasLanded = audit.rows.contains(first)
        let barrier = store.beginEpoch(session: append.session, after: 0)
        try audit.land(barrier)
        let head = StoreHead(epoch: barrier.epoch, last: barrier.position, secret: SimulatedStore.secret)
        if hasLanded { return .landed(head) }
        if barrier.position < first { return .absent(head) }
        // Earlier settlements have used up the positions before the rows'.
        mayFold = true
        return .diverged(StoreError(.io, "the log goes on"))
    }

    /// Makes the committer wait until the lease allows it to show the committed rows.
    func awaitLease(_ process: ClusterProcess) {
        note("\(process.machine.number) waits for its lease")
        within {
            while !process.isDead, !process.lease.isValid, process.log?.hasEnded == false {
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
        process.log?.callCommitter()
        _ = process.committer.step()
        process.isCommitting = false
        process.asksForLease = false
        if let broken { throw broken }
        let isFolded = process.log.map { $0.engine.restarts > 0 } ?? false
        try promise(mayFold || !isFolded, "\(process.machine.number) folds the log again without a cause")
        schedule(after: random.number(0...Self.millisecond), on: process) { [unowned self] in try resolve(process) }
    }
}
