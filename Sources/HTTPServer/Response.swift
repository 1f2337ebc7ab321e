/// An answer being built; its storage serves one request after another.
public struct Response: Sendable {
    struct Field {
        let nameStart: Int
        let valueStart: Int
        let end: Int
    }

    /// The status code, 200 to 599.
    public var status = 200
    /// The content. HEAD, 204 and 304 answers go without it by themselves.
    public var body: [UInt8] = []
    /// True where the connection must be closed after this answer.
    public var closesConnection = false

    /// Every name and value, each with a zero byte behind, as the C library takes them.
    private(set) var head: [UInt8] = []
    private(set) var fields: [Field] = []

    /// An empty 200.
    public init() {}

    /// Makes it an empty 200 again.
    public mutating func reset() {
        status = 200
        body.removeAll(keepingCapacity: body.capacity <= Self.keptBytes)
        closesConnection = false
        head.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    /// Adds a header line. `Content-Length`, `Transfer-Encoding`, `Connection` and `Date` are the server's to add.
    public mutating func add(_ name: StaticString, _ value: StaticString) {
        value.withUTF8Buffer { value in unsafe append(name, value) }
    }

    /// As above. Control bytes in the value become spaces; an empty value leaves the line out.
    public mutating func add(_ name: StaticString, _ value: [UInt8]) {
        unsafe value.withUnsafeBufferPointer { value in unsafe append(name, value) }
    }

    /// As above.
    public mutating func add(_ name: StaticString, _ value: ArraySlice<UInt8>) {
        unsafe value.withUnsafeBufferPointer { value in unsafe append(name, value) }
    }

    /// As above.
    public mutating func add(_ name: StaticString, _ value: String) {
        var value = value
        value.withUTF8 { value in unsafe append(name, value) }
    }

    /// Capacity above this is given back after an answer; each connection keeps up to three buffers of that size.
    static let keptBytes = 16 * 1024

    private mutating func append(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>) {
        guard !value.isEmpty else { return }
        let nameStart = head.count
        name.withUTF8Buffer { name in unsafe head.append(contentsOf: name) }
        head.append(0)
        let valueStart = head.count
        unsafe head.append(contentsOf: value)
        if unsafe !value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) { blankControls(from: valueStart) }
        head.append(0)
        fields.append(Field(nameStart: nameStart, valueStart: valueStart, end: head.count - 1))
    }

    private mutating func blankControls(from start: Int) {
        for index in start..<head.count where head[index] < 0x20 || head[index] == 0x7F { head[index] = 0x20 }
    }
}
