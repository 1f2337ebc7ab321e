import Platform

/// Lets partitions in and out, and no further changes in once the service stops. Without a thread: its place among the
/// workers says when.
final class ChangeGate: Worker {
    let name = "gate"
    let threadCount = 0
    private let partitions: Published<PartitionMap>
    private let isShut = Guarded(false)

    /// - Parameter partitions: where those that are let in are published.
    init(_ partitions: Published<PartitionMap>) { self.partitions = partitions }

    func run() {}

    /// Publishes `partition`. Returns whether it was let in: none is once the service stops.
    func admit(_ partition: Partition) -> Bool {
        isShut.withLock { isShut in
            if !isShut { partitions.publish(partitions.value.adding(partition)) }
            return !isShut
        }
    }

    /// Takes the partition numbered `number` out of what is published.
    func dismiss(_ number: Int) {
        isShut.withLock { _ in partitions.publish(partitions.value.removing(number)) }
    }

    /// Refuses further changes; what was taken is still committed.
    func stop() {
        isShut.withLock { isShut in
            isShut = true
            for partition in partitions.value.all { partition.engine.close() }
        }
    }
}
