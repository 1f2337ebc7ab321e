public import TimerLog

/// The host of the log, which serves it while the node owns it. Called on any thread; `adopt` and `drop` never run
/// at the same time.
public protocol LogHost: AnyObject, Sendable {
    /// Opens the log for `owner.session`, folds it and serves it. Takes as long as that needs.
    func adopt(_ owner: LogOwner) throws(StoreError)
    /// Stops serving the log at once: nothing of the log is shown once the call has returned.
    func drop()
    /// Reports an event to the operator.
    func report(_ event: ClusterEvent)
}
