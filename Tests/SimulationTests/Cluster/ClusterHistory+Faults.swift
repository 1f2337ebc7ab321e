import TestSupport
import TimerCluster
import TimerLog

@testable import TimerCore
@testable import TimerService

/// Faults, their end, and the checks after it.
extension ClusterHistory {
    func fault() {
        guard isChaotic else { return }
        schedule(after: random.number(0...4 * Self.second)) { [unowned self] in fault() }
        let living = processes.filter { !$0.isDead }
        guard let process = living.randomElement(using: &random) else { return }
        let length = random.number(100...7000) * Self.millisecond
        let number = process.machine.number
        if abs(process.machine.wallOffset) > 400 * Self.millisecond, random.chance(oneIn: 2) {
            note("the calendar of \(number) is right again")
            process.machine.wallOffset = random.number(-100...100) * Self.millisecond
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3:
            pause(process, length)
            // A virtual machine that was frozen may come back with an old calendar.
            if random.chance(oneIn: 3) { process.machine.wallOffset -= length }
        case 4, 5: end(process, restartsAfter: random.number(0...4 * Self.second))
        case 6:
            note("outage of \(length)")
            outageUntil = time.now + length
        case 7, 8:
            note("\(number) is cut off for \(length)")
            cutOffUntil[number] = time.now + length
        case 9: leave(process)
        default:
            let farthest: Int64 = [300, 300, 1500, 6000].randomElement(using: &random) ?? 300
            let step = random.number(-farthest...farthest) * Self.millisecond
            note("the calendar of \(number) is set by \(step)")
            process.machine.wallOffset += step
            // The process may end before a beat of its own has reported what follows from that.
            guard random.chance(oneIn: 4) else { return }
            let restart = random.number(0...4 * Self.second)
            schedule(after: random.number(0...600) * Self.millisecond, on: process) { [unowned self] in
                end(process, restartsAfter: restart)
            }
        }
    }

    /// Pauses a process in whatever it does.
    func pause(_ process: ClusterProcess, _ length: Int64) {
        note("\(process.machine.number) stands still for \(length)")
        process.pausedUntil = max(process.pausedUntil ?? 0, time.now + length)
    }

    /// Ends a process at once; its machine starts another one after `delay`.
    func end(_ process: ClusterProcess, restartsAfter delay: Int64) {
        note("\(process.machine.number) ends")
        process.kill()
        process.pausedUntil = nil
        restarts[process.machine.number] = time.now + delay
    }

    /// Ends all faults and their effects.
    func calm() {
        note("calm")
        isChaotic = false
        outageUntil = 0
        for machine in machines {
            machine.wallOffset = 0
            cutOffUntil[machine.number] = 0
            if restarts[machine.number] != nil { restarts[machine.number] = time.now }
        }
        for process in processes where !process.isDead {
            if process.pausedUntil != nil { process.pausedUntil = time.now }
            if process.isToLeave { end(process, restartsAfter: 0) }
        }
    }

    /// Checks that some process serves the log.
    func checkServed() throws(BrokenPromise) {
        try promise(processes.contains { $0.isServing }, "nobody serves 8 s after the last fault")
    }

    /// Compares memory with the log at the end.
    func checkEnd() throws {
        guard let server = processes.first(where: { $0.isServing }), let log = server.log else {
            throw BrokenPromise("nobody serves at the end")
        }
        try promise(processes.filter { $0.isServing }.count == 1, "two processes serve")
        try promise(log.recovery.isWorking, "the storage does not work")
        let isSettled = log.engine.fates.durableHead >= audit.head && !server.isCommitting
        if isSettled && log.engine.hasBatch(isLast: false) == false {
            let (held, expected) = (HeldTimer.all(log.engine.scheduler), audit.held)
            for id in Set(held.keys).union(expected.keys).sorted() where held[id] != expected[id] {
                throw BrokenPromise(
                    "\(id) is \(held[id].map { "\($0)" } ?? "gone"), not \(expected[id].map { "\($0)" } ?? "gone")")
            }
        }
        var stored: Set<Int64> = []
        try log.store.makeReader().read(from: 0) { row in
            stored.insert(row.first)
            return true
        }
        try promise(stored == audit.rows, "the log has lost rows")
    }
}
