/// An address that the server listens on, once bound.
public struct BoundAddress: Sendable, Equatable, CustomStringConvertible {
    /// The address; a port 0 is replaced by the one that the kernel chose.
    public let address: ListenAddress
    /// Whether the address is a Unix socket without a file: its name, shown after `@`, exists in the kernel alone.
    public var hasNoFile = false

    /// `http://127.0.0.1:8080`, `http://[::1]:8080` or `unix:/path`.
    public var description: String { address.url }

    /// The TCP port; nil for a Unix socket.
    public var port: UInt16? {
        if case .tcp(_, let port) = address { port } else { nil }
    }
}
