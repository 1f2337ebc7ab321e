import HTTPServer
import TimerLog

/// What another server's part request says of itself.
extension RequestReader {
    /// The partitions that the request is about, as a part of one; nil for a whole request, whose partitions its timers tell.
    func part(_ ticket: Ticket) -> PartitionScope? {
        guard ticket.exchange.isFromPeer, let value = ticket.exchange.header(PartHeader.partitions) else { return nil }
        return PartitionScope(value.bytes, of: layout)
    }

    /// Why a part request is refused at once; nil where it is not, or it is no part request.
    ///
    /// - Parameter owns: whether this server owns a partition.
    func refusal(ofPart ticket: Ticket, owns: (_ partition: Int) -> Bool) -> Problem? {
        guard ticket.exchange.isFromPeer else { return nil }
        if let fingerprint = ticket.exchange.header(PartHeader.fingerprint),
            PartHeader.fingerprint(fingerprint.bytes) == nil
        {
            return Problem(.invalidRequest, "a fingerprint is 32 hexadecimal digits")
        }
        guard let value = ticket.exchange.header(PartHeader.partitions) else { return nil }
        guard ticket.route.hasParts(ticket.exchange.method), let scope = PartitionScope(value.bytes, of: layout) else {
            return Problem(.invalidRequest, "the partitions are a bitmap in hexadecimal, of a request that has parts")
        }
        return scope.numbers.allSatisfy(owns) ? nil : .misdirectedByPeer
    }
}
