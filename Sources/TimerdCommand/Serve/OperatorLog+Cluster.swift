import Logging
import TimerCluster
import TimerLog

extension OperatorLog {
    func tell(_ event: ClusterEvent) {
        switch event {
        case .joined(let session):
            logger.info("joined the cluster", metadata: ["session": "\(session)"])
        case .ownedElsewhere(let owner):
            logger.notice("another node serves; this one stands by", metadata: ["owner": "\(owner)"])
        case .took: logger.notice("took the timers over")
        case .fenced: logger.warning("another node has taken the timers over")
        case .adoptionFailed(let error): logThrottled("the log can't be read; it is tried again", "\(error)")
        case .unreachable(let error):
            logThrottled("the database does not answer", "\(error)")
        case .leaseLost:
            logger.error("no beat has reached the database in time: nothing is answered until one does")
        case .leaseRegained:
            logger.notice("the database answers again; nobody has taken over")
        case .sessionEnded(let session):
            logger.warning(
                "another node saw no beat of this one and has ended its session; everything is dropped and begun anew",
                metadata: ["session": "\(session)"])
        case .sessionDropped(let session, let reason):
            logger.warning("the session is given up", metadata: ["session": "\(session)", "reason": "\(reason)"])
        case .ended(let node):
            logger.warning(
                "a node's beats have stopped; its session is ended",
                metadata: ["node": "\(node.url)", "session": "\(node.session)"])
        case .connectionsEnded(let session, let count):
            logger.warning(
                "connections of an ended session held a take-over up and were closed",
                metadata: ["session": "\(session)", "connections": .stringConvertible(count)])
        case .skewed(let nanoseconds, let leaves):
            logger.warning(
                leaves
                    ? "the calendar is off, and those of the other nodes agree: this one gives the timers up"
                    : "the calendar differs from the database's",
                metadata: ["ms": .stringConvertible(nanoseconds / 1_000_000)])
        case .skewGone:
            logger.notice("the calendar is right again")
        case .formatTooNew(let format):
            logger.error(
                "the log may hold rows of a newer format than this program reads: it has left the cluster",
                metadata: ["format": .stringConvertible(format)])
        }
    }
}
