/// A header's value as it came, without the white space around it.
public struct HeaderValue: Sendable {
    /// The bytes: visible ASCII, spaces, tabs and anything above ASCII.
    public let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The bytes as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// True when the value is `other`, byte for byte.
    public func equals(_ other: StaticString) -> Bool {
        guard bytes.count == other.utf8CodeUnitCount else { return false }
        return other.withUTF8Buffer { other in
            for index in 0..<bytes.count where unsafe bytes[bytes.startIndex + index] != other[index] { return false }
            return true
        }
    }

    /// True when the value is `other`, ignoring case.
    public func equalsIgnoringCase(_ other: StaticString) -> Bool {
        other.withUTF8Buffer { other in
            unsafe bytes.elementsEqual(other) { ASCII.lowercase($0) == ASCII.lowercase($1) }
        }
    }

    /// True when `token` is an element of the comma-separated list, ignoring case.
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

    /// The bytes without spaces and tabs at both ends.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return bytes
    }

    /// True when the bytes in `range` are `text`, upper and lower case being one.
    @inline(__always) static func isSame(_ bytes: [UInt8], _ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for index in 0..<range.count {
                guard lowercase(bytes[range.lowerBound + index]) == lowercase(unsafe text[index]) else { return false }
            }
            return true
        }
    }
}
