public import TimerLog

/// Serves the partitions that a node owns. Any thread calls, several at once.
public protocol PartitionHost: AnyObject, Sendable {
    /// Opens the log of a partition for `owner.session`, folds it and serves it. Takes as long as it must.
    func adopt(_ owner: PartitionOwner) throws(StoreError)
    /// Stops serving the partitions at once: nothing of them is shown when it returns.
    func drop(_ partitions: [Int])
    /// Folds the log of a partition that another node owns, or what has come since it was last called, so that `adopt` has
    /// little left to do. Takes as long as it must, or until `forget`. One call at a time.
    ///
    /// - Returns: how many rows it found that it did not know.
    func prepare(_ partition: Int) throws(StoreError) -> Int
    /// Throws away what `prepare` has made of a partition, and ends a call of it that is under way.
    func forget(_ partition: Int)
    /// Stops taking commands for a partition, which the node is about to give, and commits what it has. Nothing of it is shown
    /// when it returns, and its requests may wait until it is adopted again or dropped.
    ///
    /// - Returns: position beyond which nothing of it was promised; nil where the host does not have it any more.
    func release(_ partition: Int) -> Int64?
    /// Tells the operator.
    func report(_ event: ClusterEvent)
}
