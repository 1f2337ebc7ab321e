import TestSupport
import TimerCluster
import TimerLog

@testable import TimerService

/// The traffic between the processes and the directory.
extension ClusterHistory {
    static let failure = StoreError(.unavailable, "a failure that was asked for")

    /// Observes everything that a process does to the storage.
    func listen(to process: ClusterProcess) {
        process.store.onAppend = { [unowned self, unowned process] in append($0, process) }
        process.store.onSettle = { [unowned self, unowned process] in settle($0, process) }
        process.onLeaseOver = { [unowned self, unowned process] in awaitLease(process) }
        process.committer.onFenced =
            Unchecked { [unowned self, unowned process] in
                tally.fenced += 1
                note("\(process.machine.number) is fenced")
                schedule(after: random.number(0...Self.millisecond), on: process) { [unowned self] in
                    perform(process.membership.fenced(at: process.machine.instant), process)
                }
            }.call
    }

    /// A closure that is called on the simulation's thread alone.
    private struct Unchecked: @unchecked Sendable {  // unchecked: a simulation has one thread
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
        @Sendable func call() { body() }
    }

    /// Carries out the steps that a membership asks for.
    func perform(_ steps: [MembershipStep], _ process: ClusterProcess) {
        for step in steps {
            switch step {
            case .call(let call): send(call, process)
            case .extendLease(let end):
                let machine = process.machine
                let wall = bug == .wallClockLease ? machine.realtime() - machine.boottime() : 0
                process.lease.extend(until: end + wall)
            case .revokeLease: process.lease.revoke()
            case .adopt(let owner):
                let isSlow = isChaotic && random.chance(oneIn: 6)
                schedule(after: random.number(0...(isSlow ? 2000 : 20)) * Self.millisecond, on: process) {
                    [unowned self] in adopt(owner, process)
                }
            case .drop:
                schedule(after: random.number(0...Self.millisecond), on: process) { [unowned self] in
                    note("\(process.machine.number) drops the log")
                    process.drop()
                    schedule(after: random.number(0...Self.millisecond), on: process) { [unowned self] in
                        try resolve(process)
                    }
                    perform(process.membership.dropped(at: process.machine.instant), process)
                }
            case .release: releaseSoon(process)
            case .handOverEnded(let outcome): handOverEnded(outcome, process)
            case .read(_, let shown):
                if process.isWarm { process.noteShown(shown) }
                readSoon(process)
            case .report(let event):
                if case .took = event { tally.takeovers += 1 }
                note("\(process.machine.number): \(event)")
            }
        }
        if process.isLeaving && process.membership.hasLeft {
            end(process, restartsAfter: random.number(0...2 * Self.second))
        }
    }

    /// Makes a standby read the log, and read on as long as there is more.
    private func readSoon(_ process: ClusterProcess) {
        guard process.isWarm else { return }
        let isSlow = isChaotic && standbyRandom.chance(oneIn: 6)
        schedule(after: standbyRandom.number(0...(isSlow ? 3000 : 20)) * Self.millisecond, on: process) {
            [unowned self] in
            guard process.log == nil else { return }
            let rows = isChaotic && standbyRandom.chance(oneIn: 4) ? standbyRandom.number(0...5) : .max
            if isCutOff(process) || isChaotic && standbyRandom.chance(oneIn: 20) { return readSoon(process) }
            let round = try process.read(rows: rows)
            try promise(
                round == .ended || round == .stopped || bug != .none,
                "the standby \(process.machine.number) reads from the start again: \(round)")
            try checkNothingIsLost(process)
            if round != .ended { readSoon(process) }
        }
    }

    /// Checks that a process misses no rows: here a log loses none.
    private func checkNothingIsLost(_ process: ClusterProcess) throws(BrokenPromise) {
        try promise(
            process.loss == nil || bug != .none,
            "\(process.machine.number) takes rows for lost: \(process.loss, default: "none")")
    }

    private func adopt(_ owner: LogOwner, _ process: ClusterProcess) {
        var failure: StoreError?
        if isCutOff(process) {
            failure = Self.failure
        } else {
            do throws(StoreError) {
                let log = try process.adopt(owner) { if $0 { tally.warmed += 1 } }
                watch(log, owner.session, process)
            } catch { failure = error }
        }
        schedule(after: random.number(0...5 * Self.millisecond), on: process) { [unowned self, failure] in
            try checkNothingIsLost(process)
            perform(process.membership.adopted(owner, failure, at: process.machine.instant), process)
        }
    }

    /// Checks, whenever rows are shown, that the process still owns the log.
    private func watch(_ log: ActiveLog, _ session: Int64, _ process: ClusterProcess) {
        var known = log.hub.head
        log.hub.observe(
            Unchecked { [unowned self, unowned process, unowned log] in
                let head = log.hub.head
                if head > known {
                    known = head
                    let owner = store.owner.session
                    if owner != session, broken == nil {
                        broken = BrokenPromise(
                            "\(process.machine.number) shows rows, and session \(owner) owns the log")
                    }
                }
                // Called by the committer.
                interleave()
            }.call)
    }

    /// Whether the database can't be reached by a process.
    func isCutOff(_ process: ClusterProcess) -> Bool {
        time.now < outageUntil || time.now < cutOffUntil[process.machine.number]
    }

    private func send(_ call: DirectoryCall, _ process: ClusterProcess) {
        let call = call.reporting(process.memory)
        var delay = random.number(100_000...3 * Self.millisecond)
        // The process stops between reading the clock and sending.
        if isChaotic && random.chance(oneIn: 300) {
            pause(process, random.number(0...6 * Self.second))
            delay += random.number(0...6 * Self.second)
        }
        let limit = (call.isUrgent ? 1250 : 5000) * Self.millisecond
        let isDown = isCutOff(process)
        if isDown || isChaotic && random.chance(oneIn: 60) {
            let isHanging = !isDown || random.chance(oneIn: 4)
            answer(call, .failed(Self.failure), process, after: isHanging ? limit : delay)
            // The call may have its effect all the same, now or later.
            if isDown || random.chance(oneIn: 2) { return }
            let late = random.chance(oneIn: 2) ? 0 : random.number(0...8 * Self.second)
            schedule(after: delay + late) { [unowned self] in _ = try reach(call) }
            return
        }
        let deadline = time.now + limit
        schedule(after: delay) { [unowned self] in
            var made = try reach(call)
            var delay = random.number(100_000...3 * Self.millisecond)
            if time.now + delay > deadline { (made, delay) = (.failed(Self.failure), max(0, deadline - time.now)) }
            answer(call, made, process, after: delay)
        }
    }

    private func answer(_ call: DirectoryCall, _ answer: DirectoryAnswer, _ process: ClusterProcess, after delay: Int64)
    {
        schedule(after: delay, on: process) { [unowned self] in
            perform(process.membership.answered(call, answer, at: process.machine.instant), process)
        }
    }

    /// Carries out a call at the directory.
    private func reach(_ call: DirectoryCall) throws -> DirectoryAnswer {
        let answer = call.perform(on: directory)
        guard case .take(.taken(let barrier)) = answer else { return answer }
        note("the log changes hands by \(call.request): \(barrier)")
        try audit.land(barrier)
        return answer
    }
}
