/// Why a request got no answer. An answer with a status of 400 or above is no error here.
public struct HTTPClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds that a caller may treat differently.
    public enum Kind: Sendable, Equatable {
        /// No server answers there: refused, no such host or socket. The request was not sent.
        case unreachable
        /// The answer did not come in time, or a stream sent nothing for too long. The request may have been carried
        /// out.
        case timedOut
        /// The connection ended before the answer did. The request may have been carried out.
        case interrupted
        /// The answer is longer than the client's limit.
        case tooLarge
        /// The request can't be sent as it is.
        case invalidRequest
        /// Anything else, such as an answer that is not HTTP or a certificate that is not trusted.
        case failed
    }

    /// The kind of the error.
    public let kind: Kind
    /// One line that names the server.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
