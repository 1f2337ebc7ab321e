import Primitives

/// The rules of HTTP/1.1 framing that the library leaves open (RFC 9112, 3, 5 and 6).
///
/// A request is refused and its connection closed where two servers could find different ends of it (request
/// smuggling), or where it can't be what its client meant.
enum RequestCheck {
    /// How a request's body is delimited.
    enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    /// The header lines' statements about the body.
    struct Facts: Equatable {
        var framing = Framing.none
        var expectsContinue = false
    }

    /// Checks every header line. Throws the refusal of the request.
    static func headers(_ headers: borrowing RequestHeaders, isHTTP11: Bool) throws(Refusal) -> Facts {
        var facts = Facts()
        var hosts = 0
        let bytes = headers.bytes
        for index in 0..<headers.count {
            let name = headers.nameRange(at: index)
            let value = headers.valueRange(at: index)
            guard isName(bytes.span.extracting(name)) else {
                throw .badRequest("a header name has a character that it may not have")
            }
            guard isValue(bytes.span.extracting(value)) else {
                throw .badRequest("a header value has a control character")
            }
            switch name.count {
            case 4 where ASCII.isSame(bytes, name, "host"):
                hosts += 1
                guard value.allSatisfy({ isHostByte(bytes[$0]) }) else { throw .badRequest("Host is not a host") }
            case 6 where ASCII.isSame(bytes, name, "expect"):
                guard ASCII.isSame(bytes, value, "100-continue") else { throw .expectationFailed }
                facts.expectsContinue = isHTTP11
            case 14 where ASCII.isSame(bytes, name, "content-length"):
                guard facts.framing == .none else { throw .badRequest("the body's length is given twice") }
                facts.framing = .length(try length(bytes[value]))
            case 17 where ASCII.isSame(bytes, name, "transfer-encoding"):
                guard facts.framing == .none else { throw .badRequest("the body's length is given twice") }
                guard isHTTP11 else { throw .badRequest("Transfer-Encoding in HTTP/1.0") }
                guard ASCII.isSame(bytes, value, "chunked") else {
                    throw .notImplemented("transfer coding \(headers.value(at: index).text)")
                }
                facts.framing = .chunked
            default: break
            }
        }
        guard hosts == 1 || hosts == 0 && !isHTTP11 else {
            throw .badRequest(hosts == 0 ? "Host is missing" : "Host is given twice")
        }
        return facts
    }

    /// Checks a target. Returns the range of its authority, empty except in the absolute form `http://host/path`,
    /// and the offset at which its origin form begins.
    static func target(_ target: [UInt8], method: HTTPMethod) throws(Refusal) -> (authority: Range<Int>, origin: Int) {
        guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
            throw .badRequest("the target has a character that it may not have")
        }
        if target.first == UInt8(ascii: "/") { return (0..<0, 0) }
        if target == [UInt8(ascii: "*")], method == .options { return (0..<0, 0) }
        let scheme = [7, 8].first { count in
            target.prefix(count).map(ASCII.lowercase).elementsEqual((count == 7 ? "http://" : "https://").utf8)
        }
        guard let scheme else { throw .badRequest("the target is neither a path nor a URL") }
        let end = target[scheme...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? target.count
        guard end > scheme, target[scheme..<end].allSatisfy(isHostByte) else {
            throw .badRequest("the target's host is no host")
        }
        return (scheme..<end, end)
    }

    private static func length(_ digits: ArraySlice<UInt8>) throws(Refusal) -> Int {
        var length = 0
        for digit in digits {
            guard digit &- 0x30 < 10, length < Int.max / 100 else { throw .badRequest("Content-Length is no length") }
            length = length * 10 + Int(digit - 0x30)
        }
        guard !digits.isEmpty else { throw .badRequest("Content-Length is no length") }
        return length
    }

    private static func isName(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where !HTTPToken.allows(bytes[index]) { return false }
        return !bytes.isEmpty
    }

    /// Whether a value has no control character but tabs. Without a way out of the loop the compiler checks 32 bytes at
    /// once.
    private static func isValue(_ bytes: Span<UInt8>) -> Bool {
        var faults: UInt8 = 0
        for index in bytes.indices {
            let byte = bytes[index]
            let isControl: UInt8 = byte < 0x20 ? 1 : 0
            let isTab: UInt8 = byte == 0x09 ? 1 : 0
            let isDelete: UInt8 = byte == 0x7F ? 1 : 0
            faults |= isControl ^ isTab | isDelete
        }
        return faults == 0
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"/?#@\\,<>\"".utf8.contains(byte)
    }
}
