/// The address of an HTTP server.
public struct ServerAddress: Sendable, Equatable, CustomStringConvertible {
    /// The prefix of every URL: scheme, authority and perhaps a path, without a slash at the end.
    let base: String
    /// The Unix socket to connect to; nil for TCP.
    let socketPath: String?

    /// Reads `http://127.0.0.1:8080`, `https://timers.example/prefix` or `unix:/path`.
    ///
    /// Nil where `text` is none of these. Connecting shows whether the host exists.
    public init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
            // HTTP demands a host, also over a Unix socket.
            base = "http://localhost"
            socketPath = path
            return
        }
        let scheme = ["http://", "https://"].first { text.hasPrefix($0) }
        guard let scheme, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), !text.contains(where: { "?#".contains($0) })
        else { return nil }
        var rest = text.dropFirst(scheme.count)
        while rest.hasSuffix("/") { rest.removeLast() }
        guard let first = rest.first, first != "/", first != ":" else { return nil }
        base = scheme + rest
        socketPath = nil
    }

    /// Whether the server is asked over TLS.
    public var isSecure: Bool { base.hasPrefix("https://") }

    /// The address as a person writes it.
    public var description: String { socketPath.map { "unix:\($0)" } ?? base }
}
