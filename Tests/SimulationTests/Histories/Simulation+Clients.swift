import TestSupport
import TimerLog

@testable import TimerCore
@testable import TimerService

/// Requests of clients.
extension Simulation {
    private enum Request {
        case create([UInt8]), put([UInt8], createOnly: Bool), patch([UInt8]), declare([UInt8]), delete, read
        case command(TimerCommand, RescheduleTarget?)
    }

    /// Makes a random request, and checks that the answer is what the model expects.
    func request() throws {
        if random.chance(oneIn: 15) { return try createOnce() }
        if random.chance(oneIn: 12) { return try changeDelivery() }
        if random.chance(oneIn: 12) { return try changeCalendar() }
        let id = ids.randomElement(using: &random) ?? ids[0]
        let request = makeRequest(id)
        var condition = VersionCondition.none
        if random.chance(oneIn: 10) { condition = random.chance(oneIn: 4) ? .oneOf([]) : knownVersion(id) }
        note("\(request) \(id)")
        let failure: (any Error)? = server.engine.turn { turn in
            do {
                try carry(request, id, condition, turn)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    private func knownVersion(_ id: String) -> VersionCondition {
        model.timers[id].map { .oneOf([$0.progress.version]) } ?? .exists
    }

    private func makeRequest(_ id: String) -> Request {
        let wall = server.now().down(.wall)
        switch Int.random(in: 0..<40, using: &random) {
        case 0..<8: return .create(definition(id, wall))
        case 8..<11: return .put(definition(id, wall), createOnly: random.chance(oneIn: 5))
        case 11..<14: return .patch(amended(id, wall))
        case 14: return .declare(random.chance(oneIn: 3) ? definition(id, wall) : declared(id, wall))
        case 15: return .delete
        case 16..<20: return .read
        case 20..<28: return .command(.kick, nil)
        default:
            let command = TimerCommand.allCases.randomElement(using: &random) ?? .fire
            guard command == .reschedule else { return .command(command, nil) }
            let delay = RandomRules.delay(&random)
            let instant = wall + (random.chance(oneIn: 3) ? -delay : delay)
            return .command(command, random.chance(oneIn: 2) ? .after(delay) : .at(instant))
        }
    }

    private func definition(_ id: String, _ wall: Int64) -> [UInt8] {
        let extras = RandomRules.extras(&random)
        var rules = RandomRules.make(&random, wall: wall)
        RandomRules.addCalendar(to: &rules, &random, model.calendars.keys.sorted())
        if extras.webhook != nil { rules.deliveries = RandomRules.deliveries(&random) }
        return RandomRules.definition(id, rules, extras)
    }

    /// Returns a definition: mostly the timer's own with one thing changed, else a random one.
    private func amended(_ id: String, _ wall: Int64) -> [UInt8] {
        guard var rules = model.timers[id]?.rules, !random.chance(oneIn: 4) else { return definition(id, wall) }
        let other = RandomRules.make(&random, wall: wall)
        var extras = RandomRules.extras(of: model.timers[id]?.definition ?? [])
        switch Int.random(in: 0..<12, using: &random) {
        case 0: rules.until = other.until
        case 1: rules.maxFires = other.maxFires
        case 2: if rules.schedule.kind != .watchdog { rules.onResume = other.onResume }
        case 3: rules.leeway = other.leeway
        case 4: rules.jitter = other.jitter
        case 5: if rules.schedule.kind == .watchdog { rules.repeatAlarm.toggle() }
        case 6: rules.retain = other.retain
        case 7, 8: extras.webhook = random.chance(oneIn: 6) ? nil : RandomRules.webhook(&random)
        case 9 where rules.calendar != nil:
            if let name = model.calendars.keys.sorted().randomElement(using: &random) { rules.calendar?.name = name }
        case 9, 10: extras.labels = RandomRules.extras(&random).labels
        default: if rules.schedule.kind != .watchdog { rules.misfire = other.misfire }
        }
        if extras.webhook == nil { rules.deliveries = [] }
        if extras.webhook != nil && rules.deliveries.isEmpty { rules.deliveries = RandomRules.deliveries(&random) }
        return RandomRules.definition(id, rules, extras)
    }

    /// Returns the timer's own definition, or an amended one.
    private func declared(_ id: String, _ wall: Int64) -> [UInt8] {
        guard let timer = model.timers[id], random.chance(oneIn: 3) else { return amended(id, wall) }
        return timer.definition
    }

    /// Brings a request to the engine and to the model, and compares.
    private func carry(
        _ request: Request, _ id: String, _ condition: VersionCondition, _ turn: borrowing Turn
    ) throws {
        if case .read = request { return show(id, turn) }
        let isOpen = server.isOpen
        let (step, expected) = expect(request, id, condition, turn.now)
        let answer = perform(request, id, condition, turn)
        guard isOpen else {
            // A request that is refused for its own content may be refused first.
            return try promise(answer != .success, "\(request) \(id) is taken while storage fails")
        }
        switch (expected, answer) {
        case (.refused(let reason), .refused(let found)):
            try promise(found == reason, "\(request) \(id) is refused as \(found), not \(reason)")
            try acceptAll(nil)
        case (.done, .success):
            try acceptAll(step)
            changed.insert(id)
            show(id, turn)
        default:
            throw BrokenPromise(
                "\(request) \(id): \(answer), not \(expected), of \(model.timers[id].map { "\($0)" } ?? "none") at \(turn.now)"
            )
        }
    }

    private func expect(
        _ request: Request, _ id: String, _ condition: VersionCondition, _ now: Now
    ) -> (ModelStep?, ModelOutcome) {
        switch request {
        case .create(let definition): return model.create(id, definition, now, uptime: uptime)
        case .put(let definition, let createOnly):
            let answer = model.put(id, definition, now, uptime: uptime, if: condition)
            let isTaken = createOnly && model.timers[id] != nil && answer.1 != .refused(.schedule)
            return isTaken ? (nil, .refused(.version)) : answer
        case .patch(let definition): return model.patch(id, definition, now, uptime: uptime, if: condition)
        case .declare(let definition): return model.declare(id, definition, now, uptime: uptime, if: condition)
        case .delete: return model.delete(id, now, uptime: uptime, if: condition)
        case .command(let command, let target):
            return model.apply(command, id, target, now, uptime: uptime, if: condition)
        case .read: return (nil, .done([]))
        }
    }

    private enum Reply: Equatable {
        case success, unavailable
        case refused(ModelOutcome.Refusal)
    }

    private func perform(
        _ request: Request, _ id: String, _ condition: VersionCondition, _ turn: borrowing Turn
    ) -> Reply {
        let key = serverKey(id)
        do throws(ServiceError) {
            switch request {
            case .create(var definition): _ = try turn.create(key, definition: &definition)
            case .put(var definition, let createOnly):
                _ = try turn.put(key, definition: &definition, if: condition, unless: createOnly ? .exists : .none)
            case .patch(var definition):
                let version = model.timers[id]?.progress.version ?? 0
                let slot = try turn.amend(key, basis: version, definition: &definition, if: condition)
                if slot == nil { return .refused(.version) }
            case .declare(var definition):
                let slot = turn.find(key)
                try turn.checkConditions(slot, if: condition, unless: .none)
                if let slot {
                    try turn.declare(slot, definition: &definition)
                } else {
                    _ = try turn.create(key, definition: &definition)
                }
            case .delete: try turn.delete(key, if: condition)
            case .command(let command, let target):
                _ = try turn.apply(command, key, target: target, if: condition)
            case .read: break
            }
            return .success
        } catch .refused(let refusal) {
            return ModelOutcome.Refusal(refusal).map { .refused($0) } ?? .unavailable
        } catch { return .unavailable }
    }

    /// The key of the timer `id`. Called under the engine's lock.
    func serverKey(_ id: String) -> TimerKey {
        TimerKey(id: Array(id.utf8).span, siphash: server.engine.scheduler.siphash)
    }

    /// Keeps the answer that a client gets once its record is durable.
    func show(_ id: String, _ turn: borrowing Turn) {
        guard let slot = turn.find(serverKey(id)) else {
            return answers.append(Answer(position: turn.head, id: id))
        }
        var view = TimerView()
        turn.copy(slot, into: &view)
        var held = HeldTimer(progress: view.progress.withoutEdition, kicks: view.kicks, definition: view.definition)
        // A stop by a receiver is shown nowhere and makes no version.
        held.progress.flags.remove(.webhookStopped)
        answers.append(Answer(position: view.position, id: id, shown: held))
    }
}
