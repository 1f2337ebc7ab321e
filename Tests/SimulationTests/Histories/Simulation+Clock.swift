import TestSupport
import TimerLog

@testable import TimerCore
@testable import TimerService

/// The passing of time, in which due timers fire.
extension Simulation {
    private static let millisecond: Int64 = 1_000_000
    private static let second: Int64 = 1_000_000_000
    /// The error in nanoseconds with which the server may measure a step of the calendar.
    private static let jitter = 2 * millisecond
    /// The lateness in milliseconds beyond which a stall surely makes a fire a miss, whatever else was planned.
    private static let surelyMissed: Int64 = 1002
    /// The longest pause of the fire loop, in nanoseconds, that does not count as downtime.
    private static let longestSilence: Int64 = 1_100_000_000
    /// The end of the calendar of all histories, in nanoseconds, before the years that 64 bits do not reach.
    private static let lastCalendar: Int64 = 5_700_000_000 * second

    /// Returns about one of the large delays that clients ask for, as nanoseconds; a second where the clocks would go
    /// too far.
    func leap() -> Int64 {
        let delay = (RandomRules.largeDelays.randomElement(using: &random) ?? 0) * Self.millisecond
        let noise = Int64.random(in: -2 * Self.second...2 * Self.second, using: &random)
        let most = max(time.calendar, server.now().elapsed)
        return most < Self.lastCalendar - delay ? delay + noise : Self.second
    }

    /// Passes nanoseconds in which the server is up or not.
    func elapse(_ nanoseconds: Int64, isUp: Bool) {
        time.pass(nanoseconds)
        if isUp && !server.engine.storageFails { uptime += nanoseconds }
    }

    /// Runs the server for a random while.
    func pass() throws {
        let duration: Int64
        switch Int.random(in: 0..<10, using: &random) {
        case 0: duration = Int64.random(in: 0...2 * Self.millisecond, using: &random)
        case 1..<6: duration = Int64.random(in: 0...3 * Self.second, using: &random)
        case 6..<9: duration = Int64.random(in: 0...60 * Self.second, using: &random)
        default: duration = server.engine.scheduler.countsUptime ? 300 * Self.second : leap()
        }
        try run(for: duration)
    }

    /// Passes time in the middle of a call, while the fire loop runs on.
    func passDuringCall() throws {
        note("pass meanwhile")
        elapse(Int64.random(in: 0...300 * Self.millisecond, using: &random), isUp: true)
        try fireDue()
    }

    /// Runs the fire loop for `nanoseconds`. The loop wakes when its alarm rings, and each second while a timer
    /// counts uptime.
    func run(for nanoseconds: Int64) throws {
        note("run for \(nanoseconds) ns")
        let (sum, overflow) = time.sinceBoot.addingReportingOverflow(nanoseconds)
        let end = overflow ? time.sinceBoot : sum
        try fireDue()
        for _ in 0..<40 where time.sinceBoot < end && broken == nil {
            // A new process begins with a step of its fire loop.
            if isLoopDue || server.alarm.isRung { try fireDue() }
            var wake = min(end, max(server.alarm.armed, time.sinceBoot))
            if server.engine.scheduler.countsUptime { wake = min(wake, time.sinceBoot + Self.second) }
            elapse(max(0, wake - time.sinceBoot) + Int64.random(in: 0...300_000, using: &random), isUp: true)
            try fireDue()
            if !random.chance(oneIn: 20) { try commit() }
            if random.chance(oneIn: 3) { try deliver() }
        }
    }

    /// Stops the process while the clocks go on, as SIGSTOP or a sleeping machine does.
    func pauseProcess() throws {
        let length: Int64
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: length = Int64.random(in: 0...1600 * Self.millisecond, using: &random)
        case 4..<9: length = Int64.random(in: 0...100 * Self.second, using: &random)
        default: length = leap()
        }
        note("stand still for \(length) ns")
        elapse(length, isUp: length <= Self.longestSilence)
        model.noteHiccup()
        durable.noteHiccup()
        // Either the requests that waited in sockets come first, or the fire loop.
        if random.chance(oneIn: 2) { try request() }
        try fireDue()
    }

    /// Sets the calendar by little or much, or slews it.
    func stepCalendar() throws {
        var step: Int64
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: step = Int64.random(in: -3 * Self.millisecond...3 * Self.millisecond, using: &random)
        case 3..<6: step = Int64.random(in: -3 * Self.second...3 * Self.second, using: &random)
        case 6..<9: step = Int64.random(in: -7200 * Self.second...7200 * Self.second, using: &random)
        default: step = random.chance(oneIn: 2) ? leap() : -leap()
        }
        ageKeys(server.now())
        let before = time.calendar
        time.step(step)
        step = time.calendar - before
        note("set the calendar by \(step) ns")
        let now = server.now()
        let reached = now.down(.wall)
        if step < 0 {
            // Repeated instants pass while the loop runs.
            missedUntil[.wall] = min(missedUntil[.wall], reached)
        } else if step > Self.second + Self.jitter {
            missedUntil[.wall] = reached
        } else if step > Self.second - Self.jitter, server.engine.scheduler.misfireUntil[.wall] == reached {
            // The server can't measure whether the step is more than a second.
            missedUntil[.wall] = reached
        }
        try checkClock(now)
    }

    /// Runs the fire loop until nothing more is due now, or a timer that has very much to catch up has done a part of it.
    func fireDue() throws {
        for _ in 0..<16 {
            if broken != nil { return }
            try drain()
            let result = try advance()
            isLoopDue = !result.isDone
            server.alarm.isRung = false
            switch result {
            case .done, .resting: return try checkQuiet()
            case .more: continue
            case .held: elapse(Self.millisecond, isUp: true)
            }
        }
    }

    /// Takes one step of the fire loop, and compares it with the model.
    private func advance() throws -> Engine.FireStep {
        let before = server.engine.scheduler.misfireUntil
        let result = server.engine.fire()
        let now = server.now()
        guard server.isOpen else { return .done }
        if wasStalled(now, before) {
            for clock in TimerClock.allCases { missedUntil[clock] = now.down(clock) }
        }
        lastAdvance = now.elapsed
        hasFolded = false
        changed = []
        try takeFires(now)
        return result
    }

    /// Whether the fire loop was stalled for more than a second up to now, so that every instant due meanwhile
    /// is missed.
    ///
    /// A loop with nothing to do sleeps for any time, and is stalled from the instant at which it should have woken.
    /// The server decides where no single timer determines that instant.
    private func wasStalled(_ now: Now, _ before: ClockReadings) -> Bool {
        guard now.elapsed - lastAdvance > Self.second || hasFolded else { return false }
        let isSure = model.timers.values.contains { timer in
            timer.progress.isPlanned && timer.rules.clock == .continuous && !changed.contains(timer.id)
                && !timer.isDueAtOnce && timer.progress.due > missedUntil[.continuous]
                && now.down(.continuous) - timer.latest > Self.surelyMissed
        }
        let told = server.engine.scheduler.misfireUntil[.continuous]
        return isSure || told != before[.continuous] && told == now.down(.continuous)
    }

    /// Compares each step that time made with the model's.
    private func takeFires(_ now: Now) throws {
        var records = try unseen()[...]
        while let first = records.first {
            guard let id = first.id, let timer = model.timers[id] else {
                throw BrokenPromise("time makes a record of no timer: \(first)")
            }
            if first.isState && first.event.progress == timer.progress {
                records = records.dropFirst()
                continue
            }
            if timer.progress.state.hasEnded {
                try promise(model.pending(of: id).isEmpty, "\(id) is forgotten while deliveries are pending")
            }
            var step = ModelStep(timer, now, uptime: uptime)
            if timer.waitsForReplan {
                step.replan()
                try accept(step, &records)
                continue
            }
            try step.fireDue(misfires: missedUntil[timer.rules.clock])
            note("\(id) \(step.events.map { "\($0.type.map { "\($0.name)" } ?? "skipped")" }) at \(now.elapsed)")
            try accept(step, &records)
        }
    }
}
