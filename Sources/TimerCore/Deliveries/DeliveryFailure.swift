/// The reason an attempt got no answer.
public enum DeliveryFailure: UInt8, Sendable, CaseIterable {
    /// The URL's host has no address.
    case unresolved = 1
    /// The address policy refuses the address.
    case refused = 2
    /// No server listens at the address, or there is no route to it.
    case unreachable = 3
    /// No trusted TLS connection could be made.
    case untrusted = 4
    /// The time for the attempt was over.
    case timedOut = 5
    /// The connection ended before the answer did.
    case interrupted = 6
    /// The answer is not HTTP, or too large.
    case malformed = 7

    /// The name in events.
    public var name: StaticString {
        switch self {
        case .unresolved: "unresolved"
        case .refused: "refused"
        case .unreachable: "unreachable"
        case .untrusted: "untrusted"
        case .timedOut: "timedOut"
        case .interrupted: "interrupted"
        case .malformed: "malformed"
        }
    }

    /// The name that a delivery shows, from which a receiver's operator finds the cause.
    public var cause: StaticString {
        switch self {
        case .refused: "refused-address"
        case .untrusted: "tls"
        case .timedOut: "timeout"
        default: name
        }
    }
}
