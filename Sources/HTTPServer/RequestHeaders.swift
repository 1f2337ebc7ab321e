/// A request's header lines in the order in which they came, in storage that serves one request after another.
public struct RequestHeaders: Sendable {
    private struct Field {
        let name: Range<Int32>
        let value: Range<Int32>
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    /// How many lines there are.
    public var count: Int { fields.count }

    /// The name of line `index` as it was spelled.
    public func name(at index: Int) -> HeaderValue {
        HeaderValue(bytes[Self.range(fields[index].name)])
    }

    /// The value of line `index`.
    public func value(at index: Int) -> HeaderValue {
        HeaderValue(bytes[Self.range(fields[index].value)])
    }

    /// The value of the first line of that name, or nil. Names are the same in upper and lower case.
    public func first(_ name: StaticString) -> HeaderValue? {
        for index in fields.indices where isNamed(name, at: index) { return value(at: index) }
        return nil
    }

    /// How many lines have that name.
    public func count(of name: StaticString) -> Int {
        var count = 0
        for index in fields.indices where isNamed(name, at: index) { count += 1 }
        return count
    }

    /// Every value of that name, in order. Allocates; meant for the few headers that may repeat.
    public func all(_ name: StaticString) -> [HeaderValue] {
        fields.indices.filter { isNamed(name, at: $0) }.map(value(at:))
    }

    /// True when line `index` has that name.
    func isNamed(_ name: StaticString, at index: Int) -> Bool {
        let range = fields[index].name
        guard range.count == name.utf8CodeUnitCount else { return false }
        return ASCII.matches(bytes[Self.range(range)], name) { ASCII.lowercase($0) == ASCII.lowercase($1) }
    }

    mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        let nameStart = Int32(bytes.count)
        for index in name.indices { bytes.append(name[index]) }
        let nameEnd = Int32(bytes.count)
        var end = value.count
        while end > 0, value[end - 1] == 0x20 || value[end - 1] == 0x09 { end -= 1 }
        for index in 0..<end { bytes.append(value[index]) }
        fields.append(Field(name: nameStart..<nameEnd, value: nameEnd..<Int32(bytes.count)))
    }

    private static func range(_ range: Range<Int32>) -> Range<Int> {
        Int(range.lowerBound)..<Int(range.upperBound)
    }
}
