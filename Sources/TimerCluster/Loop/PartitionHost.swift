public import TimerLog

/// Serves the partitions that a node owns. Any thread calls, several at once.
public protocol PartitionHost: AnyObject, Sendable {
    /// Opens the log of a partition for `owner.session`, folds it and serves it. Takes as long as it must.
    func adopt(_ owner: PartitionOwner) throws(StoreError)
    /// Stops serving the partitions at once: nothing of them is shown when it returns.
    func drop(_ partitions: [Int])
    /// Tells the operator.
    func report(_ event: ClusterEvent)
}
