import HTTPClient

extension Failure {
    /// A request without an answer. Where no server was reached it says what to look at.
    init(_ error: HTTPClientError) {
        self.init(.other, error.description)
        mayPass = [.unreachable, .timedOut, .interrupted].contains(error.kind)
        guard error.kind == .unreachable else { return }
        isUnreachable = true
        line += "; is `timerd serve` running? --server or TIMERD_SERVER says where"
    }

    /// An answer that is no success.
    init(_ response: HTTPResponse) {
        self.init(.other, ProblemText.line(response))
        mayPass = response.status == 429 || response.status >= 500
    }
}
