@testable import TimerCore

/// The entry that each timer is armed with, as the timer table would report it to the wheel.
struct ArmedEntries: ArmedTimers {
    /// The weights that are not 1.
    var weights: [SlotIndex: Int] = [:]
    private(set) var bySlot: [SlotIndex: TimerWheel.Entry] = [:]
    private var generation: UInt32 = 0

    func isArmed(with entry: TimerWheel.Entry) -> Bool { bySlot[entry.slot] == entry }

    func weight(of entry: TimerWheel.Entry) -> Int { weights[entry.slot] ?? 1 }

    mutating func arm(_ slot: SlotIndex, due: Int64) -> TimerWheel.Entry {
        generation += 1
        let entry = TimerWheel.Entry(due: due, slot: slot, generation: generation)
        bySlot[slot] = entry
        return entry
    }

    mutating func disarm(_ slot: SlotIndex) -> Bool { bySlot.removeValue(forKey: slot) != nil }
}

/// A wheel beside a dictionary that says what it should hold.
struct WheelModel: ~Copyable {
    var wheel: TimerWheel
    var armed = ArmedEntries()
    var now: Int64

    init(at now: Int64) {
        self.now = now
        wheel = TimerWheel(position: now)
    }

    /// Arms a timer, again if it is armed already.
    mutating func arm(_ slot: SlotIndex, due: Int64) {
        cancel(slot)
        wheel.insert(armed.arm(slot, due: due))
    }

    mutating func cancel(_ slot: SlotIndex) {
        if armed.disarm(slot) { wheel.cancel() }
    }

    var nextDue: Int64? { armed.bySlot.values.map(\.due).min() }

    /// Advances to `now` and takes the due timers, which are not armed any more.
    mutating func expire(_ now: Int64, limit: Int) -> (entries: [TimerWheel.Entry], done: Bool, fresh: Bool) {
        self.now = now
        var due: [TimerWheel.Entry] = []
        var budget = limit
        let done = wheel.expire(now, budget: &budget, into: &due, armed: armed)
        var fresh = true
        for entry in due {
            fresh = fresh && armed.isArmed(with: entry)
            _ = armed.disarm(entry.slot)
        }
        return (due, done, fresh)
    }
}
