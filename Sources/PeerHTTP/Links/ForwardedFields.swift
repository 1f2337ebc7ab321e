import HTTPServer

/// The header lines of a request that is forwarded.
struct ForwardedFields {
    /// Names and values, in the order in which they are sent.
    private(set) var all: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []

    /// Takes the header lines of `exchange` that are not about the connection.
    ///
    /// - Parameters:
    ///   - leavingOut: whether the header line of that name is not forwarded.
    ///   - adding: further header lines, which come first.
    init(
        _ exchange: Exchange, leavingOut: (HeaderValue) -> Bool, adding: [(name: StaticString, value: [UInt8])]
    ) {
        for (name, value) in adding { all.append((Array("\(name)".utf8)[...], value[...])) }
        for index in 0..<exchange.headers.count {
            let name = exchange.headers.name(at: index)
            if Self.isAboutConnection(name) || leavingOut(name) { continue }
            all.append((name.bytes, exchange.headers.value(at: index).bytes))
        }
    }

    /// Whether a header line is about the connection between client and server, and not about the request.
    private static func isAboutConnection(_ name: HeaderValue) -> Bool {
        let names: [StaticString] = [
            "connection", "host", "content-length", "transfer-encoding", "keep-alive", "upgrade", "te", "trailer",
            "expect", "authorization", "proxy-connection",
        ]
        return names.contains { name.equalsIgnoringCase($0) }
    }
}
