import Logging
import TimerCluster
import TimerLog

extension OperatorLog {
    func tell(_ event: ClusterEvent) {
        switch event {
        case .joined(let session):
            logger.info("joined the cluster", metadata: ["session": "\(session)"])
        case .standsBy(let owner):
            logger.notice("another node serves; this one stands by", metadata: ["owner": "\(owner)"])
        case .took(let partitions):
            logger.notice("took partitions over", metadata: ["partitions": .stringConvertible(partitions.count)])
        case .fenced(let partitions):
            logger.warning(
                "another node has taken partitions over", metadata: ["partitions": "\(Self.numbers(partitions))"])
        case .adoptionFailed(let partition, let error):
            tellSeldom("the log of a partition can't be read; it is tried again", "partition \(partition): \(error)")
        case .unreachable(let error):
            tellSeldom("the database does not answer", "\(error)")
        case .leaseLost:
            logger.error("no beat has reached the database in time: nothing is answered until one does")
        case .leaseRegained:
            logger.notice("the database answers again; nobody has taken over")
        case .sessionEnded(let session):
            logger.warning(
                "another node saw no beat of this one and has ended its session; everything is dropped and begun anew",
                metadata: ["session": "\(session)"])
        case .sessionGivenUp(let session, let reason):
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
                    ? "the calendar is off, and those of the other nodes agree: this one gives its partitions up"
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

    private static func numbers(_ partitions: [Int]) -> String {
        partitions.count > 16 ? "\(partitions.count)" : partitions.map(String.init).joined(separator: ",")
    }
}
