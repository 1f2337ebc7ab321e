public import TimerLog

/// Serves the log while the node owns it. Any thread calls; `adopt` and `drop` never run beside each other.
public protocol LogHost: AnyObject, Sendable {
    /// Opens the log for `owner.session`, folds it and serves it. Takes as long as it must.
    func adopt(_ owner: LogOwner) throws(StoreError)
    /// Stops serving the log at once: nothing of it is shown when the call returns.
    func drop()
    /// Reports to the operator.
    func report(_ event: ClusterEvent)
}
