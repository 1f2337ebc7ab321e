import HTTPServer
import TimerCore
import WireJSON

/// Requests about deliveries.
extension RequestReader {
    /// Returns the delivery that the path names; nil if it names none.
    func namedDelivery(_ ticket: Ticket) -> EventID? {
        switch ticket.route {
        case .delivery, .deliveryRedrive: EventID(shown: ticket.parameter)
        default: nil
        }
    }

    /// Reads a request about the delivery that the path names.
    func delivery(_ ticket: Ticket) throws(Problem) -> Operation {
        guard let id = namedDelivery(ticket) else { throw .noDelivery }
        let action: SingleDeliveryRun.Action
        switch ticket.exchange.method {
        case .post: action = .redrive
        case .delete: action = .drop
        default: action = .show
        }
        if action != .show {
            try requireNothing(ticket)
            try refuse("if-match", ticket)
        }
        try requireNoParameters(ticket)
        return .deliveries(.one(SingleDeliveryRun(action, id)))
    }

    /// Reads a request to redrive all dead letters that a selector matches.
    func redrive(_ ticket: Ticket) throws(Problem) -> Operation {
        guard !ticket.exchange.body.isEmpty else {
            throw Problem(.invalidRequest, "a redrive of many needs a selector, such as {\"timer\": \"tea\"}")
        }
        try parse(ticket)
        try refuse("if-match", ticket)
        var query = QueryReader(ticket.target)
        let isDry = try query.flag("dryRun", default: false)
        try query.finish()
        return .deliveries(.redrive(try BulkRedriveRun(ticket.document, isDry: isDry, siphash: siphash)))
    }
}
