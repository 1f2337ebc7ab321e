/// An address that the server listens on, once bound.
public struct BoundAddress: Sendable, Equatable, CustomStringConvertible {
    /// The address; a port 0 is replaced by the one that the kernel chose.
    public let address: ListenAddress

    /// `http://127.0.0.1:8080`, `http://[::1]:8080` or `unix:/path`.
    public var description: String {
        switch address {
        case .unix(let path): "unix:\(path)"
        case .tcp(let host, let port): host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
        }
    }

    /// The TCP port; nil for a Unix socket.
    public var port: UInt16? {
        if case .tcp(_, let port) = address { port } else { nil }
    }
}
