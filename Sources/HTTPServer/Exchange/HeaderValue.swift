/// A header's value as it came, without the white space around it.
public struct HeaderValue: Sendable {
    /// The bytes: visible ASCII, spaces, tabs and anything above ASCII.
    public let bytes: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The bytes as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the value is `other`, byte for byte.
    public func equals(_ other: StaticString) -> Bool {
        guard bytes.count == other.utf8CodeUnitCount else { return false }
        return other.withUTF8Buffer { other in
            for index in 0..<bytes.count where unsafe bytes[bytes.startIndex + index] != other[index] { return false }
            return true
        }
    }

    /// Whether the value is `other`, ignoring case.
    public func equalsIgnoringCase(_ other: StaticString) -> Bool {
        other.withUTF8Buffer { other in
            unsafe bytes.elementsEqual(other) { ASCII.lowercase($0) == ASCII.lowercase($1) }
        }
    }

    /// Whether `token` is an element of the comma-separated list, ignoring case.
    public func containsToken(_ token: StaticString) -> Bool {
        bytes.split(separator: UInt8(ascii: ",")).contains { element in
            HeaderValue(ASCII.trimmed(element)).equalsIgnoringCase(token)
        }
    }
}
