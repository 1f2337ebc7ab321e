import Platform

/// When the partitions mean to wake, and the one alarm, which is armed for the first of them. Any thread.
///
/// While the fire loop is awake the alarm is left alone: the loop arms it before it sleeps.
final class FireSchedule: Sendable {
    private struct State {
        var wakings: Wakings
        /// What the alarm is armed for; `Int64.min` where it may have gone off.
        var armedFor = Int64.max
        /// Whether the fire loop is awake, or has not begun.
        var isAwake = true
    }

    private let alarm: any Alarm
    private let timeSource: any TimeSource
    /// Whether there is one partition, which arms the alarm itself.
    let isSingle: Bool
    private let state: Guarded<State>

    /// - Parameter partitions: how many there may be; a power of two.
    init(_ alarm: any Alarm, _ timeSource: any TimeSource, partitions: Int = 1) {
        self.alarm = alarm
        self.timeSource = timeSource
        isSingle = partitions == 1
        state = Guarded(State(wakings: Wakings(count: partitions)))
    }

    /// Notes that the partition `number` means to wake at `boottime`; replaces what it meant before. Called under its
    /// engine's lock.
    func plan(_ boottime: Int64, for number: Int) {
        if isSingle { return alarm.arm(boottime: boottime) }
        state.withLock { state in
            state.wakings[number] = boottime
            if !state.isAwake && boottime < state.armedFor { arm(&state) }
        }
    }

    /// Has the fire loop look at the partition `number` at once.
    func call(_ number: Int) {
        if isSingle { return alarm.ring() }
        plan(0, for: number)
    }

    /// Forgets what a partition that is not here any more meant.
    func forget(_ number: Int) { state.withLock { $0.wakings[number] = .max } }

    /// Ends a sleep of the fire loop now.
    func ring() { alarm.ring() }

    // What the fire loop calls, on its thread.

    /// Nanoseconds since boot, now.
    var boottime: Int64 { timeSource.boottime() }

    /// By how much the calendar is ahead of the time since boot, in nanoseconds.
    var calendarOffset: Int64 { timeSource.realtime() - timeSource.boottime() }

    /// Takes the partitions that mean to wake at `boottime` or before, in the order of their instants.
    func takeDue(at boottime: Int64, _ body: (Int) -> Void) {
        state.withLock { state in
            state.isAwake = true
            if state.armedFor <= boottime { state.armedFor = .min }
            while let number = state.wakings.popFirst(through: boottime) { body(number) }
        }
    }

    /// Arms the alarm for the first waking, before the loop sleeps. Returns what it is armed for; with one partition
    /// `Int64.max`, as that arms it itself.
    @discardableResult
    func armForSleep() -> Int64 {
        if isSingle { return .max }
        return state.withLock { state in
            state.isAwake = false
            if state.wakings.first != state.armedFor { arm(&state) }
            return state.armedFor
        }
    }

    /// Sleeps until the alarm, or for `milliseconds`.
    func sleep(milliseconds: Int32) { alarm.wait(milliseconds: milliseconds) }

    private func arm(_ state: inout State) {
        state.armedFor = state.wakings.first
        alarm.arm(boottime: state.armedFor)
    }
}
