import TimerCore
import TimerLog

/// A scheduler, with the work that its caller does: time, positions and records.
struct TimerSet: ~Copyable {
    var scheduler = Scheduler(secret: Sample.secret)
    var now = Sample.now
    var effects: [Effect] = []
    /// The effects of the last step.
    private(set) var told: [Effect] = []
    /// The position of the newest event.
    private(set) var position: Int64 = 0
    /// The slots of the timers, in the order in which these were made.
    private(set) var slots: [SlotIndex] = []

    /// The keys and definitions of prepared timers, encoded before their making is measured.
    private(set) var keys: [TimerKey] = []
    private(set) var definitions: [[UInt8]] = []

    /// Milliseconds between two instants at which something is due, so that the shorter and the longer run both empty
    /// whole slots of the wheel.
    private static let step: Int64 = 4
    private var passes: Int64 = 0
    private var start = Sample.now

    /// The instant of pass number `index`, in milliseconds from the start of the passes: the last that fits a
    /// step.
    static func instant(_ index: Int) -> Int64 { Int64(index + 1) * step - 1 }

    /// Makes `count` timers, each with a schedule of its own.
    init(_ count: Int = 0, start: StartPolicy = .now, _ schedule: (Int) -> Schedule = { _ in .month }) {
        // Time advances over nothing, so that the wheels are where the clocks are.
        _ = scheduler.advance(to: now, limit: 1, &effects)
        for index in 0..<count {
            prepare(index, Sample.rules(schedule(index), start: start))
            make(index)
        }
        keys = []
        definitions = []
    }

    /// Adds timers that are due over a month, long after all others.
    mutating func crowd(_ count: Int = Benchmark.crowd) {
        for index in 0..<count {
            prepare(Benchmark.many + index, Sample.rules(.after(86_400_000 + Int64(index) * 25_920)))
            make(keys.count - 1)
        }
        keys = []
        definitions = []
    }

    /// Encodes timer number `index`, to be made later.
    mutating func prepare(_ index: Int, _ rules: TimerRules) {
        let definition = Sample.definition(index, rules)
        keys.append(TimerKey(definition: definition.span, siphash: scheduler.siphash))
        definitions.append(definition)
    }

    /// Makes the prepared timer at `index`.
    mutating func make(_ index: Int) {
        guard let slot = try? scheduler.create(keys[index], definition: &definitions[index], now, &effects) else {
            return require(false, "a timer was not made")
        }
        slots.append(slot)
        finishStep()
    }

    /// Applies a command to the timer that was made as number `index`.
    mutating func apply(_ command: TimerCommand, _ index: Int, target: RescheduleTarget? = nil) {
        do {
            try scheduler.apply(command, slots[index], target: target, now, if: .none, &effects)
        } catch {
            require(false, "\(command) was refused: \(error)")
        }
        finishStep()
    }

    /// Advances time `times` times, a step each. Returns the number of events that this made.
    mutating func pass(_ times: Int) -> Int {
        var events = 0
        for _ in 0..<times {
            now.elapsed = start.elapsed + Self.instant(Int(passes)) * 1_000_000
            passes += 1
            while !scheduler.advance(to: now, limit: 256, &effects) {}
            events += effects.count
            finishStep()
        }
        return events
    }

    /// Advances time by a slot of the wheel in which nothing is due, and starts the passes again from there.
    mutating func skip() {
        start.elapsed += Sample.wheelSlot * 1_000_000
        now = start
        passes = 0
        while !scheduler.advance(to: now, limit: 256, &effects) {}
    }

    /// Gives the effects of a step their positions, as their records would have them.
    private mutating func finishStep() {
        for effect in effects where effect.type != nil {
            position += 1
            _ = scheduler.stamp(
                effect.slot, position: position, isBase: RecordCodec.holdsDefinition(effect), isEvent: true)
        }
        swap(&told, &effects)
        effects.removeAll(keepingCapacity: true)
        scheduler.finishStep()
    }
}
