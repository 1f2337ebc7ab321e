import HTTPServer

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
