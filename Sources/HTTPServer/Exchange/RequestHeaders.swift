import Primitives

/// A request's header lines in the order in which they came, in storage that serves one request after another.
public struct RequestHeaders: Sendable {
    private struct Field {
        let name: Range<Int32>
        let value: Range<Int32>
    }

    /// Names and values, one after the other.
    package private(set) var bytes: [UInt8] = []
    private var fields: [Field] = []

    /// No header lines.
    package init() {}

    /// The number of lines.
    public var count: Int { fields.count }

    /// The name of line `index` as it was spelled.
    public func name(at index: Int) -> HeaderValue {
        HeaderValue(bytes[nameRange(at: index)])
    }

    /// The value of line `index`.
    public func value(at index: Int) -> HeaderValue {
        HeaderValue(bytes[valueRange(at: index)])
    }

    /// The value of the first line of that name, or nil. The case of names is ignored.
    public func first(_ name: StaticString) -> HeaderValue? {
        for index in fields.indices where isNamed(name, at: index) { return value(at: index) }
        return nil
    }

    /// The number of lines that have that name.
    public func count(of name: StaticString) -> Int { lines(name)?.count ?? 0 }

    /// The value of the first line of that name, and the number of such lines; nil if there are none.
    public func lines(_ name: StaticString) -> (first: HeaderValue, count: Int)? {
        var first = 0
        var count = 0
        for index in fields.indices where isNamed(name, at: index) {
            if count == 0 { first = index }
            count += 1
        }
        return count > 0 ? (value(at: first), count) : nil
    }

    /// Every value of that name, in order. Allocates, so it is meant for the few headers that may repeat.
    public func all(_ name: StaticString) -> [HeaderValue] {
        fields.indices.filter { isNamed(name, at: $0) }.map(value(at:))
    }

    /// Whether line `index` has that name.
    @inline(__always)
    func isNamed(_ name: StaticString, at index: Int) -> Bool {
        ASCII.isSame(bytes, nameRange(at: index), name)
    }

    /// The range in `bytes` of the name of line `index`.
    func nameRange(at index: Int) -> Range<Int> {
        let range = fields[index].name
        return Int(range.lowerBound)..<Int(range.upperBound)
    }

    /// The range in `bytes` of the value of line `index`.
    func valueRange(at index: Int) -> Range<Int> {
        let range = fields[index].value
        return Int(range.lowerBound)..<Int(range.upperBound)
    }

    package mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    /// Adds a line without the white space after the value (the library has dropped the white space before it).
    package mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        let nameStart = Int32(bytes.count)
        bytes.append(copying: name)
        let nameEnd = Int32(bytes.count)
        bytes.append(copying: value)
        while bytes.count > Int(nameEnd), let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        fields.append(Field(name: nameStart..<nameEnd, value: nameEnd..<Int32(bytes.count)))
    }
}

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
}

/// Bytes of HTTP's grammar (RFC 9110, 5.6).
enum ASCII {
    /// The byte in lower case if it is a letter, else unchanged.
    @inline(__always) static func lowercase(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Whether the bytes are `text`.
    static func isSame(_ bytes: Span<UInt8>, _ text: StaticString) -> Bool {
        guard bytes.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for index in text.indices {
                guard unsafe text[index] == bytes[index] else { return false }
            }
            return true
        }
    }

    /// Whether the bytes in `range` are `text`, ignoring case: both are letters, digits and hyphens. The bit that is ignored
    /// is the case of a letter, and otherwise tells digits and hyphens from control characters, which are refused.
    @inline(__always) static func isSame(_ bytes: [UInt8], _ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        let bytes = bytes.span.extracting(range)
        return text.withUTF8Buffer { text in
            var difference: UInt8 = 0
            for index in bytes.indices { difference |= (bytes[index] ^ (unsafe text[index])) & ~0x20 }
            return difference == 0
        }
    }
}
