import TestSupport
import Testing
import TimerCore
import Webhooks

@testable import TimerService

/// Random requests, deliveries and clock steps, the same in every run.
struct RandomHistory {
    private var generator: SeededGenerator
    private let payloadBytes: Int
    private static let commands = ["cancel", "suspend", "reschedule=500ms", "dance"]
    private let timers: Int
    /// The number of answers recorded so far.
    private(set) var answers: UInt64 = 0
    /// The numbers that answers may have.
    static let answerNumbers: Range<UInt64> = 0..<500

    init(seed: UInt64, timers: Int = 30, payloadBytes: Int = 40) {
        generator = SeededGenerator(seed: seed)
        self.timers = timers
        self.payloadBytes = payloadBytes
    }

    /// Takes a random step: a client's request, or time that passes and due timers that fire. A refusal by the
    /// machine is expected; any other error is rethrown.
    mutating func step(_ rig: Rig) throws(ServiceError) {
        do throws(ServiceError) {
            switch Int.random(in: 0..<26, using: &generator) {
            case 0..<5: try create(rig)
            case 5..<12: try command(rig)
            case 12: try amend(rig)
            case 13: try put(rig)
            case 14: try rig.change { turn throws(ServiceError) in try turn.delete(rig.key(id()), if: .none) }
            case 15:
                guard answers < Self.answerNumbers.upperBound else { return }
                try rig.answer(answers, bytes: Int.random(in: 0...200, using: &generator))
                answers += 1
            case 20..<22:
                // The ready deliveries depend on the rows on disk, so these are settled first and every run is
                // the same.
                if rig.locked({ !$0.storageFails }) { try? rig.settle() }
                var isLast = true
                var restarts = 0
                let turns = rig.engine.takeReady(limit: 100, isLast: &isLast, restarts: &restarts)
                _ = rig.begin(turns.map(\.id))
            case 22..<25: settle(rig)
            case 25: try changeDeadLetter(rig)
            case 16 where generator.chance(oneIn: 10):
                rig.time.step(milliseconds: Int64.random(in: -5000...5000, using: &generator))
                rig.fire()
            default:
                rig.time.pass(milliseconds: Int64.random(in: 0...1500, using: &generator))
                rig.fire()
            }
        } catch {
            guard case .refused = error else { throw error }
        }
    }

    private mutating func id() -> String { "t\(Int.random(in: 0..<timers, using: &generator))" }

    private mutating func definition(_ id: String, _ rig: Rig) -> [UInt8] {
        let labels = generator.chance(oneIn: 3) ? [("k", "\(Int.random(in: 0...2, using: &generator))")] : []
        let payload = generator.bytes(Int.random(in: 0...payloadBytes, using: &generator))
        var rules = TimerRules.random(&generator, wall: rig.engine.turn { $0.now.wall })
        let webhook: [UInt8] = generator.chance(oneIn: 2) ? [1, 2, 3] : []
        if !webhook.isEmpty {
            rules.deliveries = EventTypes(EventType.fired)
            for type in EventType.allCases where !type.isDelivery && generator.chance(oneIn: 3) {
                rules.deliveries.insert(EventTypes(type))
            }
        }
        return TestSupport.definition(id, rules, labels: labels, webhook: webhook, payload: payload)
    }

    /// Ends some of the attempts under way, with random outcomes.
    private mutating func settle(_ rig: Rig) {
        var underWay: [DeliveryDetail] = []
        rig.engine.turn { turn in
            turn.walkDeliveries(after: .min, dead: false) { _, detail in
                if detail.state == .inFlight { underWay.append(detail) }
                return true
            }
        }
        var ends: [AttemptEnd] = []
        for detail in underWay where generator.chance(oneIn: 2) {
            let type = [EventType.delivered, .deliveryFailed, .deliveryDead].randomElement(using: &generator)
            var outcome = DeliveryOutcome(type ?? .delivered, delivery: detail.id, attempt: detail.attempts)
            if type == .deliveryDead { outcome.reason = generator.chance(oneIn: 4) ? .gone : .attempts }
            if generator.chance(oneIn: 2) { outcome.status = Int.random(in: 200...599, using: &generator) }
            var end = AttemptEnd(outcome: outcome)
            end.retryAfter = Int64.random(in: 0...3000, using: &generator)
            if type == .delivered, generator.chance(oneIn: 2) {
                end.command = Self.commands.randomElement(using: &generator).map {
                    ReceiverCommand(Array($0.utf8))
                }
            }
            if detail.slot == nil { end.definition = TestSupport.definition("t0") }
            ends.append(end)
        }
        _ = rig.engine.settle(ends[...])
    }

    /// Redrives a dead letter, or drops it.
    private mutating func changeDeadLetter(_ rig: Rig) throws(ServiceError) {
        var dead: [DeliveryDetail] = []
        rig.engine.turn { turn in
            turn.walkDeliveries(after: .min, dead: true) { _, detail in
                dead.append(detail)
                return true
            }
        }
        guard let letter = dead.randomElement(using: &generator), let definition = rig.definitionOfEvent(letter) else {
            return
        }
        let drops = generator.chance(oneIn: 3)
        try rig.change { turn throws(ServiceError) in
            if drops {
                try turn.dropDelivery(letter.id, definition: definition)
            } else {
                _ = try turn.redrive(letter.id, definition: definition)
            }
        }
    }

    private mutating func create(_ rig: Rig) throws(ServiceError) {
        let id = id()
        var bytes = definition(id, rig)
        try rig.change { turn throws(ServiceError) in _ = try turn.create(rig.key(id), definition: &bytes) }
    }

    private mutating func put(_ rig: Rig) throws(ServiceError) {
        let id = id()
        var bytes = definition(id, rig)
        try rig.change { turn throws(ServiceError) in
            _ = try turn.put(rig.key(id), definition: &bytes, if: .none, unless: .none)
        }
    }

    private mutating func amend(_ rig: Rig) throws(ServiceError) {
        let id = id()
        var bytes = definition(id, rig)
        try rig.change { turn throws(ServiceError) in
            guard let slot = turn.find(rig.key(id)) else { return }
            let version = turn.read { (scheduler: borrowing Scheduler) in scheduler.progress(slot).version }
            _ = try turn.amend(rig.key(id), basis: version, definition: &bytes, if: .none)
        }
    }

    private mutating func command(_ rig: Rig) throws(ServiceError) {
        let id = id()
        let command = TimerCommand.allCases.randomElement(using: &generator) ?? .fire
        let delay = Int64.random(in: 0...3000, using: &generator)
        try rig.change { turn throws(ServiceError) in
            let target = command == .reschedule ? RescheduleTarget.after(delay) : nil
            _ = try turn.apply(command, rig.key(id), target: target, if: .none)
        }
    }
}
