/// Subscribers, the streams that follow a timer's events, and what they do to it: `start: subscriber` and
/// `stop: subscriber`.
///
/// The caller counts subscribers. After a start of the server a running timer with `stop: subscriber` is *held*: it
/// is in no wheel until a subscriber comes, or until it is suspended as of the last instant at which the server was
/// up. A timer armed meanwhile could fire in a time for which it is then suspended.
extension Scheduler {
    /// Whether the timer at `slot` is suspended once it has no subscriber.
    public func stopsUnsubscribed(_ slot: SlotIndex) -> Bool { table[slot].traits.contains(.stopsUnsubscribed) }

    /// Whether a subscriber matters to the timer at `slot`: the timer waits for one, or is suspended without any.
    public func wantsSubscriber(_ slot: SlotIndex) -> Bool {
        stopsUnsubscribed(slot) ? !table[slot].state.hasEnded : waitsForSubscriber(slot)
    }

    /// Whether a subscriber starts or resumes the timer at `slot`: not if a command suspended it, or if it has ended.
    public func waitsForSubscriber(_ slot: SlotIndex) -> Bool {
        switch table[slot].state {
        case .idle: rules(slot).start == .subscriber
        case .suspended: table[slot].flags.contains(.unsubscribed)
        default: false
        }
    }

    /// Starts or resumes the timer at `slot`, which waits for a subscriber.
    public mutating func subscribe(_ slot: SlotIndex, _ now: Now, _ effects: inout [Effect]) throws(TimerRefusal) {
        try apply(table[slot].state == .idle ? .activate : .resume, slot, now, if: .none, &effects)
    }

    /// Suspends the timer at `slot`, which has had no subscriber for long enough, if it runs and has
    /// `stop: subscriber`.
    ///
    /// - Parameter lastUp: the last instant before the start at which the server was up, as of which a timer that
    ///   is still held is suspended; nil if there was none.
    public mutating func unsubscribe(_ slot: SlotIndex, lastUp: Now?, _ now: Now, _ effects: inout [Effect]) {
        let heldFor = held.removeValue(forKey: slot)
        guard table[slot].state == .running else { return }
        guard stopsUnsubscribed(slot) else {
            if heldFor != nil { arm(slot, Grid(rules(slot), book), now) }
            return
        }
        var step = begin(slot, now)
        // The suspension is as of now if a client planned another due instant since the start.
        step.suspend(because: .unsubscribed, asOf: heldFor == step.progress.due ? lastUp : nil, &effects)
        commit(step, &effects)
    }

    /// Arms a running timer that was held since the start.
    public mutating func release(_ slot: SlotIndex, _ now: Now) {
        guard !held.isEmpty, held.removeValue(forKey: slot) != nil, table[slot].state == .running else { return }
        arm(slot, Grid(rules(slot), book), now)
    }

    /// Notes a stall of the fire loop if a held timer is overdue by more than `threshold` nanoseconds, so that what
    /// is due misfires: held timers don't wake the fire loop, which finds a stall by waking late.
    public mutating func noteHeldLoopStall(longerThan threshold: Int64, _ now: Now) {
        let isOverdue = held.contains { slot, due in
            let late = now.milliseconds(on: table[slot].dueClock) - due
            return late > threshold / nanosecondsPerMillisecond
        }
        if isOverdue { noteLoopStall(until: now) }
    }

    /// Whether the timer at `slot` is held: in no wheel even while it runs.
    func isHeld(_ slot: SlotIndex) -> Bool { !held.isEmpty && held[slot] != nil }
}
