/// Requests that wait for a step under the lock of a partition, by its number. Partitions take turns, and the requests of
/// each are in the order in which they came.
struct PartitionQueues<Element> {
    private var queues: [StepQueue<Element>]
    /// Numbers of the partitions with requests, the next one first.
    private var waiting: [Int] = []

    /// - Parameter count: how many partitions there are.
    init(count: Int) { queues = (0..<count).map { _ in StepQueue() } }

    var isEmpty: Bool { waiting.isEmpty }

    /// The partition that is next; nil when no request waits.
    var next: Int? { waiting.first }

    /// Appends a request whose next step is in `partition`.
    mutating func append(_ element: Element, in partition: Int) {
        if queues[partition].isEmpty { waiting.append(partition) }
        queues[partition].append(element)
    }

    /// Takes the oldest request of a partition out; nil if it has none.
    mutating func popFirst(in partition: Int) -> Element? {
        let element = queues[partition].popFirst()
        guard element != nil, queues[partition].isEmpty else { return element }
        if waiting.count == 1 {
            waiting.removeLast()
        } else {
            waiting.removeAll { $0 == partition }
        }
        return element
    }

    /// Puts a partition behind the others.
    mutating func rotate(_ partition: Int) {
        guard waiting.count > 1, waiting.first == partition else { return }
        waiting.append(waiting.removeFirst())
    }
}
