import HTTPClient

extension Failure {
    /// A request without an answer. Where no server was reached it says what to look at.
    init(_ error: HTTPClientError) {
        self.init(.other, error.description)
        guard error.kind == .unreachable else { return }
        isUnreachable = true
        line += "; is `timerd serve` running? --server or TIMERD_SERVER says where"
    }
}
