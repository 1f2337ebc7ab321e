/// Where the nodes of a cluster find each other and agree on who owns the log. One thread at a time calls it.
///
/// Every call ends in bounded time. One that throws `unavailable` may have had its effect all the same: its caller looks, or
/// repeats it. Each call is one transaction; a session that was ended stays ended.
public protocol ClusterDirectory: AnyObject, Sendable {
    /// Enters the node's session. Nothing happens where it is there already.
    func join(_ node: ClusterNode) throws(StoreError)
    /// Counts a beat of the session unless it was ended, and tells how the cluster stands.
    func beat(_ beat: NodeBeat) throws(StoreError) -> ClusterView
    /// Ends a session whose beat is still `beat`. Returns whether this call ended it.
    func end(_ session: Int64, at beat: Int64) throws(StoreError) -> Bool
    /// Ends the caller's own session, which has promised nothing beyond `promised` whatever its beats allowed it: who takes
    /// the log begins above that.
    func leave(_ session: Int64, promised: Int64) throws(StoreError)
    /// Takes the log whose owner's session was ended, or that the taker's session owns already: a taker that did not
    /// learn what became of its take begins a further epoch, whose commit proves all before it. In the same transaction the
    /// barrier is written: after the end of the log, the taker's clock, and what an ended owner had promised.
    func take(_ order: TakeOrder) throws(StoreError) -> TakeOutcome
    /// Gives the log of `order.from`, which calls, to the live session `order.session`. The barrier is written after
    /// the end of the log and `order.clock`, the greatest position up to which the giver has promised no later record.
    func give(_ order: TakeOrder) throws(StoreError) -> TakeOutcome
    /// Ends what a session still has under way in the storage. Returns how many connections were closed.
    func endConnections(of session: Int64) throws(StoreError) -> Int
    /// Lets rows of `format` be written once every live node reads it.
    func announce(format: Int) throws(StoreError)
    /// Forgets ended sessions that do not own the log and promised nothing from `position` on. Returns how many.
    func forget(promisedBefore position: Int64) throws(StoreError) -> Int
    /// Closes what is open; the next call opens it again.
    func close()
}

extension ClusterDirectory {
    /// Ends the caller's own session, which may have promised all that its beats allowed.
    public func leave(_ session: Int64) throws(StoreError) { try leave(session, promised: .max) }
}
