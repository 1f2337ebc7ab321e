import HTTPServer

/// The header fields of a request or an answer, in the order in which they are sent.
struct HTTP2Fields: Sendable {
    struct Field {
        let name: Range<Int>
        let value: Range<Int>
        /// Whether the value is kept out of the connection's table of fields: see RFC 7541, 7.1.3.
        let isRare: Bool
    }

    /// Names and values, one after the other.
    private(set) var bytes: [UInt8] = []
    private(set) var fields: [Field] = []

    /// No fields.
    init() {}

    /// Adds a field. The name is in small letters; pseudo fields, which begin with a colon, come first.
    ///
    /// - Parameter isRare: whether the value is not expected again, so that it is not kept in the connection's table.
    mutating func add(_ name: StaticString, _ value: some Sequence<UInt8>, isRare: Bool = false) {
        let start = bytes.count
        bytes.append(contentsOf: "\(name)".utf8)
        close(start, bytes.count, value, isRare)
    }

    /// Adds a field whose name is written in small letters, whatever its case.
    mutating func add(_ name: ArraySlice<UInt8>, _ value: some Sequence<UInt8>, isRare: Bool = false) {
        let start = bytes.count
        for byte in name { bytes.append(byte &- 0x41 < 26 ? byte | 0x20 : byte) }
        close(start, bytes.count, value, isRare)
    }

    private mutating func close(_ start: Int, _ end: Int, _ value: some Sequence<UInt8>, _ isRare: Bool) {
        bytes.append(contentsOf: value)
        fields.append(Field(name: start..<end, value: end..<bytes.count, isRare: isRare))
    }
}

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

extension Response {
    /// Header lines whose values come again and again, so that a connection's table may keep them.
    private static let frequent: [StaticString] = ["content-type", "cache-control", "allow", "retry-after", "vary"]

    /// Status and header fields, as another server is sent them.
    var fieldsForPeer: HTTP2Fields {
        var made = HTTP2Fields()
        made.add(":status", String(status).utf8)
        for index in 0..<lineCount {
            let name = name(at: index)
            let isFrequent = Self.frequent.contains { name.equalsIgnoringCase($0) }
            made.add(name.bytes, value(at: index).bytes, isRare: !isFrequent)
        }
        return made
    }
}
