import HTTPServer

extension Ticket {
    /// Whether the request may be carried out twice: reads, and what has one effect however often it comes.
    var isRepeatable: Bool {
        switch exchange.method {
        case .get, .head: true
        case .post: exchange.header("idempotency-key") != nil && route.takesKeys || !route.takesKeys
        case .delete: !route.takesKeys
        default: false
        }
    }
}
