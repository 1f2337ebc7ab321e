import HTTPClient

extension Failure {
    /// Makes the failure of a request without an answer; where no server was reached, it says what to check.
    init(_ error: HTTPClientError) {
        self.init(.other, error.description)
        isTransient = [.unreachable, .timedOut, .interrupted].contains(error.kind)
        guard error.kind == .unreachable else { return }
        isUnreachable = true
        line += "; is `timerd serve` running? --server or TIMERD_SERVER says where"
    }

    /// Makes the failure of an answer that is no success.
    init(_ response: HTTPResponse) {
        self.init(.other, ProblemText.line(response))
        isTransient = response.status == 429 || response.status >= 500
    }
}
