/// The directory in which the nodes of a cluster find each other and agree on who owns the log. Called by one
/// thread at a time.
///
/// Every call ends in bounded time. A call that throws `unavailable` may have had its effect all the same: the
/// caller looks, or repeats it. Each call is one transaction; a session that was ended stays ended.
public protocol ClusterDirectory: AnyObject, Sendable {
    /// Enters the node's session; does nothing where it is entered already.
    func join(_ node: ClusterNode) throws(StoreError)
    /// Counts a beat of the session unless the session was ended, and returns the state of the cluster.
    func beat(_ beat: NodeBeat) throws(StoreError) -> ClusterView
    /// Ends a session whose beat is still `beat`. Returns whether this call ended it.
    func end(_ session: Int64, at beat: Int64) throws(StoreError) -> Bool
    /// Ends the caller's own session, which has promised nothing beyond `promised`, whatever its beats allowed: the
    /// next owner of the log begins above that.
    func leave(_ session: Int64, promised: Int64) throws(StoreError)
    /// Takes the log if its owner's session was ended, or is the taker's already: a taker that does not know the
    /// outcome of its take begins a further epoch, whose commit proves everything before it. Writes the barrier in
    /// the same transaction: after the end of the log, the taker's clock, and the position that an ended owner had
    /// promised.
    func take(_ order: TakeOrder) throws(StoreError) -> TakeOutcome
    /// Gives the log of `order.from`, the caller's session, to the live session `order.session`. Writes the barrier
    /// after the end of the log and `order.clock`, the greatest position up to which the giver has promised no
    /// later record.
    func give(_ order: TakeOrder) throws(StoreError) -> TakeOutcome
    /// Closes the connections by which a session may still have statements under way in the storage. Returns how
    /// many were closed.
    func endConnections(of session: Int64) throws(StoreError) -> Int
    /// Raises the newest format of rows, which may be written once every live node reads it.
    func announce(format: Int) throws(StoreError)
    /// Forgets ended sessions that do not own the log and promised nothing from `position` on. Returns how many.
    func forget(promisedBefore position: Int64) throws(StoreError) -> Int
    /// Closes the connection, if there is one; the next call opens it again.
    func close()
}

extension ClusterDirectory {
    /// Ends the caller's own session, which may have promised all that its beats allowed.
    public func leave(_ session: Int64) throws(StoreError) { try leave(session, promised: .max) }
}
