/// An alarm that wakes the fire loop at an instant. `AlarmKind` lists those of the server; tests have a manual one.
public protocol Alarm: AnyObject, Sendable {
    /// Plans the next wake-up, in place of the one before. May be called on any thread.
    ///
    /// - Parameters:
    ///   - boottime: nanoseconds since boot, `Int64.max` for none.
    func arm(boottime: Int64)
    /// Sleeps until the planned instant, a `ring`, a step of the calendar, or for `milliseconds`. Called on the
    /// fire loop's thread only.
    func wait(milliseconds: Int32)
    /// Ends a `wait` now. May be called on any thread.
    func ring()
}
