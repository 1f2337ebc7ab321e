import TimerService

/// An alarm that keeps the instant it is armed for, up to which the simulation passes time.
final class SimulatedAlarm: Alarm, @unchecked Sendable {  // unchecked: a simulation has one thread
    private(set) var armed = Int64.max
    /// Whether the fire loop was woken before its time.
    var isRung = false

    func arm(boottime: Int64) { armed = boottime }
    func wait(milliseconds: Int32) {}
    func ring() { isRung = true }
}
