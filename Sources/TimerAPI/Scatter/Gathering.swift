/// What a request that is answered in parts asks of each server, and how their answers become one.
protocol Gathering: AnyObject {
    /// The partitions that the request concerns.
    var scope: PartitionScope { get }
    /// The media type of `content`; nil for the client's own, with its content.
    var contentType: StaticString? { get }
    /// The content of the part with some of the partitions; nil for the client's own.
    func content(for scope: PartitionScope) -> [UInt8]?
    /// Takes the answer of the part with some of the partitions, a 200. Returns false for one that no part gives.
    func add(_ answer: PartAnswer, for scope: PartitionScope) -> Bool
    /// Fills the response, but for its `Request-Id`, once each partition has answered.
    func fill(_ ticket: Ticket)
    /// Answers the request, or goes on with it, once each partition has answered.
    func conclude(_ ticket: Ticket, _ handler: TimerHandler)
}

extension Gathering {
    var contentType: StaticString? { nil }

    func content(for scope: PartitionScope) -> [UInt8]? { nil }

    func conclude(_ ticket: Ticket, _ handler: TimerHandler) {
        handler.answer(ticket, self)
    }
}
