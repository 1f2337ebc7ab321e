/// Lets no further changes in once the service stops. Without a thread: its place among the workers says when.
final class ChangeGate: Worker {
    let name = "gate"
    let threadCount = 0
    private let partitions: [Partition]

    init(_ partitions: [Partition]) { self.partitions = partitions }

    func run() {}

    /// Refuses further changes; what was taken is still committed.
    func stop() { for partition in partitions { partition.engine.close() } }
}
