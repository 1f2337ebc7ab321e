import TestSupport
import TimerCluster
import TimerLog

@testable import TimerService

/// Hand-overs, and stops that begin with one.
extension ClusterHistory {
    /// Asks the process that serves the log to hand it over to any other, now and then.
    func handOver() {
        guard isChaotic else { return }
        schedule(after: random.number(0...6 * Self.second)) { [unowned self] in handOver() }
        guard let process = processes.first(where: \.isServing) else { return }
        note("\(process.machine.number) is to hand the log over")
        perform(process.membership.handOver(to: nil, patience: 7 * Self.second, at: process.machine.instant), process)
    }

    /// Stops a process by SIGTERM: it hands the log over, then leaves; where it can't, everything is committed first.
    func leave(_ process: ClusterProcess) {
        guard process.isAwake, !process.isToLeave else { return }
        note("\(process.machine.number) is asked to leave")
        process.isToLeave = true
        perform(process.membership.handOver(to: nil, patience: 7 * Self.second, at: process.machine.instant), process)
    }

    func handOverEnded(_ outcome: HandOverOutcome, _ process: ClusterProcess) {
        note("\(process.machine.number): the hand-over ended: \(outcome)")
        if case .handedOver = outcome { tally.handOvers += 1 }
        guard process.isToLeave, !process.isLeaving else { return }
        schedule(after: 0, on: process) { [unowned self] in
            perform(process.membership.drain(at: process.machine.instant), process)
        }
        schedule(after: random.number(0...50 * Self.millisecond), on: process) { [unowned self] in
            process.isLeaving = true
            process.log?.engine.close()
            onceCommitted(process, patience: 20) { [unowned self] in
                let promised = process.claimedThrough ?? .max
                perform(process.membership.leave(promised: promised, at: process.machine.instant), process)
            }
        }
    }

    /// Ends the log of a process for the next owner: see `TimerService.release`.
    func releaseSoon(_ process: ClusterProcess) {
        schedule(after: random.number(0...Self.millisecond), on: process) { [unowned self] in
            note("\(process.machine.number) ends the log for another")
            process.isReleasing = bug != .servesWhileGiving
            if bug != .servesWhileGiving { process.log?.engine.close() }
            onceCommitted(process, patience: 200) { [unowned self] in
                let claimed = process.claimedThrough
                if bug == .servesWhileGiving {
                    schedule(after: 300 * Self.millisecond, on: process) { process.drop() }
                } else {
                    process.drop()
                }
                process.isReleasing = false
                try resolve(process)
                perform(process.membership.released(claimed, at: process.machine.instant), process)
            }
        }
    }

    /// Calls `body` once everything that a process has taken is on disk, or after `patience` looks.
    private func onceCommitted(_ process: ClusterProcess, patience: Int, _ body: @escaping () throws -> Void) {
        let isBusy = process.isCommitting || process.hasWork
        schedule(after: isBusy && patience > 0 ? 10 * Self.millisecond : 0, on: process) { [unowned self] in
            if isBusy && patience > 0 { return onceCommitted(process, patience: patience - 1, body) }
            try body()
        }
    }
}
