import Testing
import TimerCore
import TimerService

/// Clients and clocks that do anything, the same in every run.
struct RandomHistory {
    private var generator: SeededGenerator
    private let payloadBytes: Int
    private let timers: Int
    /// Numbers of the answers recorded so far.
    private(set) var answers: UInt64 = 0
    /// Numbers of the answers there are at most.
    static let answerNumbers: Range<UInt64> = 0..<500

    init(seed: UInt64, timers: Int = 30, payloadBytes: Int = 40) {
        generator = SeededGenerator(seed: seed)
        self.timers = timers
        self.payloadBytes = payloadBytes
    }

    /// One thing happens: something is asked for, or time passes and what is due fires. A refusal by the machine is
    /// nothing special; another error is thrown on.
    mutating func step(_ rig: Rig) throws(ServiceError) {
        do throws(ServiceError) {
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<5: try create(rig)
            case 5..<12: try command(rig)
            case 12: try amend(rig)
            case 13: try put(rig)
            case 14: try rig.change { turn throws(ServiceError) in try turn.delete(rig.key(id()), if: .none) }
            case 15:
                guard answers < Self.answerNumbers.upperBound else { return }
                try rig.answer(answers, bytes: Int.random(in: 0...200, using: &generator))
                answers += 1
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
        let rules = TimerRules.random(&generator, wall: rig.engine.turn { $0.now.wall })
        return TimerServiceTests.definition(id, rules, labels: labels, payload: payload)
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
            _ = try turn.put(rig.key(id), definition: &bytes, if: .none, createOnly: false)
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
