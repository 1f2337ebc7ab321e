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
    public func count(of name: StaticString) -> Int {
        var count = 0
        for index in fields.indices where isNamed(name, at: index) { count += 1 }
        return count
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
