import TestSupport
import TimerLog

@testable import TimerCore
@testable import TimerService

/// Appends and their outcomes, crashes and restarts, compaction.
extension Simulation {
    /// Observes everything the server does to the disk.
    func listen() {
        store.onAppend = { [unowned self] rows in decide(rows) }
        store.onLanding = { [unowned self] rows in
            do { for row in rows { try audit.land(row) } } catch { broken = broken ?? error }
        }
        store.onReopen = { [unowned self] in
            followFolds()
            interlude()
        }
        store.onChange = { [unowned self] in decideChange() }
        server.courier.onSubmit = { [unowned self] requests in
            do { try send(requests) } catch { broken = broken ?? error }
        }
        server.compactor.onWait = { [unowned self] in
            do {
                try drain()
                if server.hasWork {
                    if !server.commitStep() { endProcess() }
                } else {
                    endProcess()
                }
            } catch { broken = broken ?? error }
        }
    }

    /// Decides the outcome of an append; clients and clocks may act before it is over.
    private func decide(_ rows: [LogRow]) -> AppendFate {
        followFolds()
        // The model's state now is the state of this batch.
        beginBatch()
        let taken = model
        var fate = AppendFate()
        interlude()
        let error = StoreError(.io, "the simulated disk failed")
        switch Int.random(in: 0..<60, using: &random) {
        case 0:
            fate.lands = false
            fate.outcome = .absent(error)
            foldsToCome = [durable]
        case 1, 2:
            fate.lands = random.chance(oneIn: 2)
            fate.outcome = .unknown(error)
            foldsToCome = [durable, fate.lands ? taken : durable]
        case 3, 4:
            fate.lands = random.chance(oneIn: 2)
            fate.crashes = true
            fate.outcome = .unknown(error)
            endProcess()
        default: break
        }
        // A failed attempt to take writes again leads to one more fold.
        if server.engine.storageFails, case .unknown = fate.outcome { foldsToCome = [fate.lands ? taken : durable] }
        if server.engine.storageFails, case .absent = fate.outcome { foldsToCome = [] }
        if fate.lands { durable = taken }
        if fate.outcome != nil { note("append of \(rows.count) rows: \(fate)") }
        return fate
    }

    /// Decides the outcome of a deletion or replacement of rows.
    private func decideChange() -> ChangeFate {
        var fate = ChangeFate()
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1:
            fate.fails = true
            fate.lands = random.chance(oneIn: 2)
            reached.insert(fate.lands ? .failedChangeMade : .failedChange)
        case 2:
            fate.fails = true
            fate.lands = random.chance(oneIn: 2)
            fate.staysShut = true
            reached.insert(.shutStore)
            // The rows on disk are not known any more.
            foldsToCome = [durable, durable]
        case 3:
            fate.lands = random.chance(oneIn: 2)
            fate.crashes = true
            endProcess()
        default: break
        }
        if fate.fails || fate.crashes { note("change of rows: \(fate)") }
        return fate
    }

    /// Takes over the state that the engine found when it folded the log again.
    func followFolds() {
        while seenRestarts < server.engine.restarts, !foldsToCome.isEmpty {
            seenRestarts += 1
            hasFolded = true
            hasToAdopt = true
            isLoopDue = true
            model = foldsToCome.removeFirst()
            missedUntil = ClockReadings()
            model.forgetMemory(uptime: uptime, underWay: Set(exchanges.keys).union(ends.map(\.id)), server.now())
            beginBatch()
        }
        guard seenRestarts == server.engine.restarts, hasToAdopt else { return }
        hasToAdopt = false
        do { try adoptDeadLetters() } catch { broken = broken ?? error }
    }

    private func endProcess() {
        isDoomed = true
        store.kill()
        server.committer.stop()
        server.pacing.stop()
    }

    /// Makes the waiting batch durable.
    func commit() throws {
        try drain()
        guard server.hasWork else { return }
        note("commit")
        let leads = random.chance(oneIn: 2)
        if !server.commitStep(leads: leads) { try promise(isDoomed, "the committer gave up") }
        if isDoomed { return try restart(after: .process) }
        followFolds()
        try promise(seenRestarts == server.engine.restarts, "the log was folded again without a cause")
        try resolve()
    }

    enum Downtime: CaseIterable { case process, machine }

    /// Ends the process at any instant between two calls, and starts the next one.
    func crash() throws {
        // Before a clean end everything is committed, and nothing else changes.
        if random.chance(oneIn: 3) { try stopCleanly() }
        if !isDoomed { endProcess() }
        try restart(after: Downtime.allCases.randomElement(using: &random) ?? .process)
    }

    private func stopCleanly() throws {
        note("stop")
        server.engine.close()
        while !isDoomed && server.hasWork {
            try drain()
            if !server.commitStep() { break }
            followFolds()
        }
        if !isDoomed { try resolve() }
    }

    /// Starts a new process from the rows on disk.
    func restart(after downtime: Downtime) throws {
        let counted = server.now().down(.suspending)
        let wasWatching = model.countsUptime && durable.countsUptime
        let pause = downtimeLength()
        note("restart of the \(downtime) after \(pause) ns")
        if downtime == .machine { time.reboot(pause) } else { time.pass(pause) }
        foldsToCome = []
        seenRestarts = 0
        beginBatch()
        answers = []
        exchanges = [:]
        ends = []
        if !openKeys.isEmpty { reached.insert(.keyCutOff) }
        openKeys = []
        missedUntil = ClockReadings()
        isDoomed = false
        model = durable
        server = try Server(store, time)
        model.forgetMemory(uptime: uptime, server.now())
        try adoptDeadLetters()
        durable = model
        listen()
        hasFolded = true
        isLoopDue = true
        // Elapsed time begins again with an empty log.
        if audit.head == 0 { suspendingStart = nil }
        let kept = server.now().down(.suspending)
        try promise(!wasWatching || kept >= counted - 12_000, "a crash lost \(counted - kept) ms of uptime")
        try promise(
            audit.head == server.engine.batch.head, "the log ends at \(server.engine.batch.head), not \(audit.head)")
        try check()
        try checkHeld(server.held(), "after a restart")
    }

    private func downtimeLength() -> Int64 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: Int64.random(in: 0...900_000_000, using: &random)
        case 4..<9: Int64.random(in: 0...100_000_000_000, using: &random)
        default: leap()
        }
    }

    /// Runs a round of compaction: old rows go, and state that is still needed is written again.
    func compact() throws {
        try commit()
        guard server.isOpen else { return }
        note("compact")
        do { _ = try server.compactor.round(store.makeReader()) } catch {
            try promise(isDoomed, "compaction: \(error)")
        }
        if isDoomed { return try restart(after: .process) }
        followFolds()
        try drain()
        try commit()
    }
}
