import TestSupport
import TimerLog

@testable import TimerCore
@testable import TimerService

/// Checks after every step.
extension Simulation {
    /// Returns the records of the engine that the model has not seen.
    func unseen() throws -> [Recorded] {
        followFolds()
        let (batch, kicks) = (server.engine.batch.records.joined, server.engine.batch.kicks.joined)
        var found: [Recorded] = []
        var next = server.engine.batch.first + seen.records
        if batch.count > seen.batch { found += try Recorded.all(batch[seen.batch...], first: &next) }
        seen.records = batch.isEmpty ? 0 : next - server.engine.batch.first
        // Kicks get their positions when the batch is taken.
        var unknown: Int64 = 1 << 62
        if kicks.count > seen.kicks { found += try Recorded.all(kicks[seen.kicks...], first: &unknown) }
        (seen.batch, seen.kicks) = (batch.count, kicks.count)
        return found
    }

    /// Drops the count of records seen, as the engine has a new batch.
    func beginBatch() { seen = (0, 0, 0) }

    /// Accepts records that no client asked for: state written again, which changes nothing.
    func drain() throws {
        for record in try unseen() {
            if let delivery = record.delivery {
                let known = model.deliveries[delivery.id]
                try promise(record.body != nil, "nobody changed \(delivery)")
                try promise(
                    known.map { $0.body == record.body && $0.attempts == delivery.attempts } ?? true,
                    "a delivery is carried as \(record), not \(known.map { "\($0)" } ?? "nothing")")
                continue
            }
            try promise(record.isState && record.outcome == nil, "nobody asked for \(record)")
            let isKnown =
                if let id = record.id {
                    model.timers[id].map { $0.isRecorded(as: record.event) && $0.definition == record.definition }
                        ?? false
                } else {
                    model.timers.values.contains { $0.isRecorded(as: record.event) }
                }
            try promise(isKnown, "state is carried that is not live: \(record)")
        }
    }

    /// Applies `step` to the model: its records must come next in `found`, with those of deliveries that are too
    /// many then.
    func accept(_ step: ModelStep, _ found: inout ArraySlice<Recorded>) throws {
        let id = step.timer.id
        let (all, old) = (found, model.timers[id])
        try model.take(step)
        for event in step.events {
            let next = found.popFirst()
            guard let next, next.event == event, next.outcome == nil, next.id == id || next.id == nil else {
                throw BrokenPromise(
                    "\(id), \(old.map { "\($0)" } ?? "none"): \(all.map(\.event)), not \(step.events), at \(step.now)")
            }
            if event.owes { try owe(next, step, &found) }
        }
    }

    /// Applies `step` to the model, and checks that the engine wrote its records and no others.
    func acceptAll(_ step: ModelStep?) throws {
        var found = try unseen()[...]
        if let step { try accept(step, &found) }
        try promise(found.isEmpty, "nobody asked for \(found.map(\.event))")
    }

    /// Makes the checks that need no idle server.
    func check() throws {
        try drain()
        let now = server.now()
        try checkClock(now)
        ageKeys(now)
        for (id, timer) in model.timers {
            let slot = server.engine.scheduler.find(server.key(id))
            let progress = slot.map { server.engine.scheduler.presentProgress($0).withoutEdition }
            try promise(
                progress == timer.progress,
                "\(id) is \(progress.map { "\($0)" } ?? "gone"), not \(timer.progress)")
        }
        try check(server.engine.calendars, model)
        let count = server.engine.scheduler.count
        try promise(count == model.timers.count, "there are \(count) timers, not \(model.timers.count)")
        let deliveries = Self.deliveries(server.engine.scheduler, now)
        try checkDeliveries(deliveries, model, now)
        dropExpired(deliveries)
        try checkLabels()
        guard server.isOpen else { return }
        try checkWake(now)
    }

    /// Checks that each label lists the timers that carry it.
    private func checkLabels() throws(BrokenPromise) {
        for label in RandomRules.labels {
            var listed: Set<SlotIndex> = []
            server.engine.scheduler.walk(after: nil, over: .labelled(label)) { _, slot in
                listed.insert(slot)
                return true
            }
            let carriers = model.timers.values.filter { $0.carries(label) }.map(\.id)
            let expected = Set(carriers.compactMap { server.engine.scheduler.find(server.key($0)) })
            try promise(listed == expected, "\(label) is carried by \(carriers), listed are \(listed.count)")
        }
    }

    /// Reads the next page of a list.
    func readList() throws {
        if list == nil {
            list = ListReader(
                label: random.chance(oneIn: 3) ? nil : RandomRules.labels.randomElement(using: &random), model)
        }
        let limit = Int.random(in: 1...4, using: &random)
        guard try list?.read(server.engine.scheduler, model, limit: limit) ?? false else { return }
        reached.insert(list?.label == nil ? .list : .labelList)
        list = nil
    }

    /// Checks that the server wakes no later than any planned fire.
    private func checkWake(_ now: Now) throws {
        let wake = server.nextWake() ?? .max
        for timer in model.timers.values where timer.progress.isPlanned {
            let latest = timer.latest - now.offset(of: timer.rules.clock)
            let (due, overflow) = latest.multipliedReportingOverflow(by: 1_000_000)
            let isCatchingUp = timer.rules.misfire == .all && timer.progress.due <= misfires(timer)
            // A timer catches up by one fire a millisecond.
            let instant = isCatchingUp ? max(due, now.elapsed + 1_000_000) : due
            try promise(
                overflow || wake <= max(now.elapsed, instant),
                "\(timer) is due at \(instant), the server wakes at \(wake), now \(now), armed \(server.engine.pacer.armedFor)"
            )
            // A fire loop that has a step to make needs no alarm.
            let alarm = server.alarm.armed
            try promise(
                overflow || isLoopDue || server.alarm.isRung
                    || alarm <= max(time.sinceBoot, server.engine.clock.boottime(ofElapsed: instant)),
                "\(timer) is due at \(instant), the alarm rings at \(alarm), now is \(time.sinceBoot), \(now)")
        }
    }

    private func misfires(_ timer: ModelTimer) -> Int64 { missedUntil[timer.rules.clock] }

    /// Checks that nothing overdue is left once the fire loop has nothing more to do.
    func checkQuiet() throws {
        guard server.isOpen, broken == nil else { return }
        try checkDelivering()
        let now = server.now()
        for timer in model.timers.values {
            let state = timer.progress.state
            try promise(!timer.waitsForReplan, "\(timer) is not planned by its calendar as it is")
            if state.hasEnded {
                // The loop runs again at once when the timer's last delivery ended just now.
                let isKept =
                    timer.progress.due > now.down(.continuous) || !model.pending(of: timer.id).isEmpty
                    || server.alarm.armed <= time.sinceBoot
                try promise(isKept, "\(timer.id) is kept beyond its `retain`")
            }
            guard state == .running else { continue }
            let isEnding = timer.isWatchdog && timer.isOver(now) && !timer.progress.isPlanned
            try promise(!isEnding, "\(timer.id) runs beyond its `until`")
            guard timer.progress.isPlanned else { continue }
            let isCatchingUp =
                timer.rules.misfire == .all && timer.progress.due <= misfires(timer) && !timer.isDueAtOnce
            try promise(
                timer.latest > now.down(timer.rules.clock) || isCatchingUp, "\(timer) is overdue and left, at \(now)")
            guard timer.rules.clock == .suspending else { continue }
            let length = max(0, timer.latest - timer.plannedAt.instant)
            let (most, tooLong) = length.multipliedReportingOverflow(by: 1_000_000)
            let uncounted = 12_000_000_000 * (timer.hiccups + 1)
            try promise(
                tooLong || uptime - max(timer.plannedAt.uptime, timer.watchedFrom) <= most + uncounted,
                "\(timer) is not fired after \(uptime - timer.plannedAt.uptime) ns of uptime, planned after \(most)")
        }
    }

    /// Compares the engine's clocks with the simulated ones.
    func checkClock(_ now: Now) throws {
        let skew = now.nanoseconds(on: .wall) - time.calendar
        try promise(
            abs(skew) <= 2_000_000, "the wall clock is \(skew) ns off: \(now), \(time.calendar), \(server.engine.clock)"
        )
        let counted = now.nanoseconds(on: .suspending) - uptime
        let start = suspendingStart ?? counted
        suspendingStart = start
        try promise(counted <= start + 1_000_000, "the suspending clock counts \(counted - start) ns of downtime")
    }

    /// Sends answers whose records are durable, and drops those whose records are lost.
    func resolve() throws {
        var waiting: [Answer] = []
        for answer in answers {
            switch server.engine.fate(of: answer.position) {
            case .pending: waiting.append(answer)
            case .unknown: try promise(false, "the log is not taken over, but \(answer.position) is given up")
            case .lost:
                try promise(!audit.holds(answer.position), "what stands at \(answer.position) is told to be lost")
            case .durable:
                try promise(answer.position <= audit.head, "\(answer.position) is shown and not on disk")
                guard let shown = answer.shown else { continue }
                let name = Shown(id: answer.id, version: shown.progress.version)
                if let before = self.shown[name] {
                    try promise(before.asVersioned == shown.asVersioned, "\(name) was \(before), is \(shown)")
                }
                self.shown[name] = shown
                let known = durable.versions[answer.id] ?? 0
                try promise(known >= name.version, "\(name) is shown and not on disk")
            }
        }
        answers = waiting
    }

    /// Checks that a fold of the whole log equals the live state.
    func checkFold() throws {
        try commit()
        note("fold")
        var fold = LogFold(secret: SimulatedStore.secret)
        try store.fold(into: &fold)
        let scheduler = fold.finish()
        let held = HeldTimer.all(scheduler)
        let deliveries = Self.deliveries(scheduler, server.now())
        let isSettled = !server.hasWork
        try check(scheduler.calendars, isSettled ? model : durable)
        try checkDeliveries(deliveries, isSettled ? model : durable, server.now(), isFold: true)
        try checkHeld(held, "in the log", isSettled ? model : durable)
        if isSettled { try checkHeld(server.held(), "in memory") }
    }

    func checkHeld(_ held: [String: HeldTimer], _ place: String, _ expected: Model? = nil) throws {
        let wanted = (expected ?? model).timers.mapValues {
            HeldTimer(progress: $0.progress, kicks: $0.kicks, definition: $0.definition)
        }
        guard held != wanted else { return }
        for id in Set(held.keys).union(wanted.keys).sorted() where held[id] != wanted[id] {
            throw BrokenPromise(
                "\(place) \(id) is \(held[id].map { "\($0)" } ?? "gone"), not \(wanted[id].map { "\($0)" } ?? "gone")")
        }
    }

    /// Reads the stream's new events.
    func follow() throws {
        try follower.poll(server, store, audit)
        if random.chance(oneIn: 10) { follower.isWatching = random.chance(oneIn: 2) ? ids[0] : nil }
    }
}

extension RecordBuffers {
    /// All records, one after the other.
    fileprivate var joined: [UInt8] { full.isEmpty ? open : Array((full + [open]).joined()) }
}
