import CMicroHTTPD

/// An answer's head as bytes, always with `Connection: close`, for sockets that the library no longer writes to.
package struct ResponseHead {
    /// The way in which the client finds the end of the content.
    enum Framing {
        case length(Int)
        case chunked
        case untilClose
    }

    let bytes: [UInt8]

    /// The first bytes of every head, whatever the answer.
    static let opening = Array("HTTP/1.1 ".utf8)

    /// `date` is the value of `Date`.
    init(_ response: borrowing Response, framing: Framing, date: [UInt8]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(192 + response.head.count)
        bytes.append(contentsOf: Self.opening)
        bytes.append(contentsOf: "\(response.status) \(Self.reason(response.status))\r\nDate: ".utf8)
        bytes.append(contentsOf: date)
        bytes.append(contentsOf: "\r\nConnection: close\r\n".utf8)
        for field in response.fields {
            bytes.append(contentsOf: response.head[field.nameStart..<field.valueStart - 1])
            bytes.append(contentsOf: ": ".utf8)
            bytes.append(contentsOf: response.head[field.valueStart..<field.end])
            bytes.append(contentsOf: "\r\n".utf8)
        }
        switch framing {
        case .length where response.status == 204 || response.status == 304: break
        case .length(let length): bytes.append(contentsOf: "Content-Length: \(length)\r\n".utf8)
        case .chunked: bytes.append(contentsOf: "Transfer-Encoding: chunked\r\n".utf8)
        case .untilClose: break
        }
        bytes.append(contentsOf: "\r\n".utf8)
        self.bytes = bytes
    }

    /// Whether answers of that status have no content.
    package static func isBodyless(_ status: Int) -> Bool {
        status == 204 || status == 304
    }

    private static func reason(_ status: Int) -> String {
        unsafe MHD_get_reason_phrase_for(UInt32(clamping: status)).map { text in unsafe String(cString: text) } ?? ""
    }
}
