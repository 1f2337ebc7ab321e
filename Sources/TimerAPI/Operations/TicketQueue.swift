/// Requests that wait for a step, first come, first served.
///
/// No generic queue of another module: the optimizer does not specialize that, which cost a GET 2,600 instructions.
struct TicketQueue {
    private var tickets: [Ticket?] = []
    /// Where the oldest is.
    private var head = 0

    /// Fewer taken places are not worth moving the rest.
    private static let mostTaken = 1024

    var isEmpty: Bool { head == tickets.count }

    mutating func append(_ ticket: Ticket) { tickets.append(ticket) }

    /// Takes the oldest out; nil where there is none.
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
