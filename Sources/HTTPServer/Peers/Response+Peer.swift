import HTTP2

extension Response {
    /// Values that come again and again, so that a connection's table may keep them.
    private static let frequent: [StaticString] = ["content-type", "cache-control", "allow", "retry-after", "vary"]

    /// Status and header fields, as another server is sent them.
    var fieldsForPeer: HTTP2Fields {
        var made = HTTP2Fields()
        made.add(":status", String(status).utf8)
        for field in fields {
            let name = head[field.nameStart..<field.valueStart - 1]
            let isFrequent = Self.frequent.contains { ASCII.isSame(head, name.indices, $0) }
            made.add(name, head[field.valueStart..<field.end], isRare: !isFrequent)
        }
        return made
    }
}
