/// Requests that wait for a step under the lock of a partition, by its number. Partitions take turns, and the requests of
/// each are in the order in which they came.
struct PartitionQueues {
    private var queues: [TicketQueue]
    /// Numbers of the partitions with requests, the next one first.
    private var waiting: [Int] = []

    /// - Parameter count: how many partitions there are.
    init(count: Int) { queues = (0..<count).map { _ in TicketQueue() } }

    var isEmpty: Bool { waiting.isEmpty }

    /// The partition that is next; nil when no request waits.
    var next: Int? { waiting.first }

    /// Appends a request that is next in its partition.
    mutating func append(_ ticket: Ticket) {
        if queues[ticket.partition].isEmpty { waiting.append(ticket.partition) }
        queues[ticket.partition].append(ticket)
    }

    /// Takes the oldest request of a partition out; nil if it has none.
    mutating func popFirst(in partition: Int) -> Ticket? {
        let ticket = queues[partition].popFirst()
        guard ticket != nil, queues[partition].isEmpty else { return ticket }
        if waiting.count == 1 {
            waiting.removeLast()
        } else {
            waiting.removeAll { $0 == partition }
        }
        return ticket
    }

    /// Puts a partition behind the others.
    mutating func rotate(_ partition: Int) {
        guard waiting.count > 1, waiting.first == partition else { return }
        waiting.append(waiting.removeFirst())
    }
}
