/// A header's value as it came, without the white space around it.
public struct HeaderValue: Sendable {
    /// The bytes: visible ASCII, spaces, tabs and anything above ASCII.
    public let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The bytes as text; what is not UTF-8 is replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// True when the value is `other`, byte for byte.
    public func equals(_ other: StaticString) -> Bool {
        bytes.count == other.utf8CodeUnitCount && ASCII.matches(bytes, other) { $0 == $1 }
    }

    /// True when the value is `other`, upper and lower case being one.
    public func equalsIgnoringCase(_ other: StaticString) -> Bool {
        bytes.count == other.utf8CodeUnitCount
            && ASCII.matches(bytes, other) { ASCII.lowercase($0) == ASCII.lowercase($1) }
    }

    /// True when `token` is an element of the comma-separated list, upper and lower case being one.
    public func containsToken(_ token: StaticString) -> Bool {
        bytes.split(separator: UInt8(ascii: ",")).contains { element in
            HeaderValue(ASCII.trimmed(element)).equalsIgnoringCase(token)
        }
    }
}

/// Bytes of HTTP's grammar (RFC 9110, 5.6).
enum ASCII {
    /// A letter in lower case; other bytes as they are.
    @inline(__always) static func lowercase(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// True for bytes a header name or a method is made of.
    @inline(__always) static func isToken(_ byte: UInt8) -> Bool {
        byte < 128 && tokens[Int(byte)]
    }

    /// The bytes without spaces and tabs at both ends.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return bytes
    }

    /// True when each byte of `bytes` and the one at its place in `text`, which is as long, are the same by `isSame`.
    @inline(__always) static func matches(
        _ bytes: ArraySlice<UInt8>, _ text: StaticString, _ isSame: (UInt8, UInt8) -> Bool
    ) -> Bool {
        text.withUTF8Buffer { text in
            var index = bytes.startIndex
            for unsafe byte in unsafe text {
                guard isSame(bytes[index], byte) else { return false }
                index += 1
            }
            return true
        }
    }

    private static let tokens: [Bool] = (0..<128).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(UInt8(byte))
        }
    }
}
