/// Requests that wait for a step, in the order in which they came.
///
/// It is not `FIFO`, a generic type of another module: the optimizer does not specialize that, which cost a GET 2,600
/// instructions.
struct TicketQueue {
    private var tickets: [Ticket?] = []
    /// Index of the oldest.
    private var head = 0

    /// Empty places at the front up to which the rest is not moved.
    private static let mostTaken = 1024

    var isEmpty: Bool { head == tickets.count }

    mutating func append(_ ticket: Ticket) { tickets.append(ticket) }

    /// Takes the oldest out; nil if the queue is empty.
    mutating func popFirst() -> Ticket? {
        guard head < tickets.count else { return nil }
        let ticket = tickets[head]
        tickets[head] = nil
        head += 1
        if head == tickets.count {
            tickets.removeAll(keepingCapacity: true)
            head = 0
        } else if head > Self.mostTaken, head > tickets.count / 2 {
            tickets.removeFirst(head)
            head = 0
        }
        return ticket
    }
}
