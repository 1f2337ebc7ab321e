/// An answer being built; its storage serves one request after another.
public struct Response: Sendable {
    struct Field {
        let nameStart: Int
        let valueStart: Int
        let end: Int
    }

    /// The status code, 200 to 599.
    public var status = 200
    /// The content. It is not sent in answers to HEAD and with 204 and 304.
    public var body: [UInt8] = []
    /// Whether the connection must be closed after this answer.
    public var closesConnection = false

    /// Every name and value, each followed by a zero byte, as the C library takes them.
    private(set) var head: [UInt8] = []
    private(set) var fields: [Field] = []

    /// An empty 200.
    public init() {}

    /// The number of header lines.
    package var lineCount: Int { fields.count }

    /// The name of a header line.
    package func name(at index: Int) -> HeaderValue {
        HeaderValue(head[fields[index].nameStart..<fields[index].valueStart - 1])
    }

    /// The value of a header line.
    package func value(at index: Int) -> HeaderValue {
        HeaderValue(head[fields[index].valueStart..<fields[index].end])
    }

    /// Turns the answer into an empty 200 again.
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

    /// Adds a header line. Control bytes in the value become spaces; an empty value leaves the line out.
    public mutating func add(_ name: StaticString, _ value: [UInt8]) {
        unsafe value.withUnsafeBufferPointer { value in unsafe append(name, value) }
    }

    /// Adds a header line. Control bytes in the value become spaces; an empty value leaves the line out.
    public mutating func add(_ name: StaticString, _ value: String) {
        var value = value
        value.withUTF8 { value in unsafe append(name, value) }
    }

    /// Adds a header line that another server has written, its name with capital letters.
    public mutating func add(relayed name: HeaderValue, _ value: HeaderValue) {
        let nameStart = head.count
        var isFirst = true
        for byte in name.bytes {
            head.append(isFirst && byte &- 0x61 < 26 ? byte & 0xDF : byte)
            isFirst = byte == UInt8(ascii: "-")
        }
        head.append(0)
        let valueStart = head.count
        for byte in value.bytes { head.append(Self.blanked(byte)) }
        head.append(0)
        fields.append(Field(nameStart: nameStart, valueStart: valueStart, end: head.count - 1))
    }

    /// Adds a header line whose value `write` writes: at most `room` bytes, none of them control bytes. An empty
    /// value leaves the line out.
    public mutating func add(_ name: StaticString, upTo room: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        let nameStart = head.count
        let valueStart = nameStart + name.utf8CodeUnitCount + 1
        head.append(addingCapacity: valueStart - nameStart + room + 1) { line in
            name.withUTF8Buffer { name in for index in name.indices { line.append(unsafe name[index]) } }
            line.append(0)
            write(&line)
            line.append(0)
        }
        let end = head.count - 1
        guard end > valueStart else { return head.removeSubrange(nameStart...) }
        fields.append(Field(nameStart: nameStart, valueStart: valueStart, end: end))
    }

    /// Capacity above this is freed after an answer; each connection keeps up to three buffers of that size.
    static let keptBytes = 16 * 1024

    private mutating func append(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>) {
        add(name, upTo: value.count) { line in
            for index in value.indices { line.append(Self.blanked(unsafe value[index])) }
        }
    }

    /// A space for a control byte.
    private static func blanked(_ byte: UInt8) -> UInt8 { byte < 0x20 || byte == 0x7F ? 0x20 : byte }
}

/// The bytes of an answer's body while the library writes them: they keep their address until the request is completed.
@safe struct ReplyBuffer: ~Copyable {
    private var storage = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Copies `bytes` and empties them. The result is valid until the next `load` or `release`.
    mutating func load(_ bytes: inout [UInt8]) -> UnsafeMutableRawBufferPointer {
        let count = bytes.count
        if unsafe storage.count < bytes.count {
            unsafe storage.deallocate()
            unsafe storage = .allocate(byteCount: max(bytes.count, 512), alignment: 16)
        }
        unsafe storage.copyBytes(from: bytes)
        bytes.removeAll(keepingCapacity: bytes.capacity <= Response.keptBytes)
        return unsafe UnsafeMutableRawBufferPointer(rebasing: storage[..<count])
    }

    /// Frees a large buffer.
    mutating func release() {
        guard unsafe storage.count > Response.keptBytes else { return }
        unsafe storage.deallocate()
        unsafe storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    deinit {
        unsafe storage.deallocate()
    }
}
