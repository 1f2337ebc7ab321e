/// Why a request got no answer. An answer with a status of 400 or above is no error here.
public struct HTTPClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of trouble, as far as a caller acts on it.
    public enum Kind: Sendable, Equatable {
        /// Nobody answers there: refused, no such host or socket. The request was not sent.
        case unreachable
        /// The answer did not come in time, or a stream fell silent. The request may have been carried out.
        case timedOut
        /// The connection ended before the answer did. The request may have been carried out.
        case interrupted
        /// The answer is longer than the client takes.
        case tooLarge
        /// The request can't be sent as it is.
        case invalidRequest
        /// Anything else, such as an answer that is not HTTP or a certificate that is not trusted.
        case failed
    }

    /// What kind of trouble.
    public let kind: Kind
    /// One line that names the server.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
