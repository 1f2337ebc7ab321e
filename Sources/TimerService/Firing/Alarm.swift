/// Wakes the fire loop at an instant. `AlarmKind` names those of the server; tests have a manual one.
public protocol Alarm: AnyObject, Sendable {
    /// Plans the next waking; replaces the one before. Any thread.
    ///
    /// - Parameters:
    ///   - boottime: nanoseconds since boot, `Int64.max` for none.
    func arm(boottime: Int64)
    /// Sleeps until the planned instant, a `ring`, a step of the calendar, or `milliseconds`. The fire loop's thread.
    func wait(milliseconds: Int32)
    /// Ends a `wait` now. Any thread.
    func ring()
}
