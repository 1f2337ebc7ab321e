/// A statement that each connection prepares when it first runs it.
public struct PostgresStatement: Sendable {
    /// The name on the server; each text has a name of its own.
    public let name: String
    /// The text, with parameters `$1`, `$2`….
    public let text: String

    /// Makes a statement; see the members.
    public init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }
}

/// A parameter of a statement, in PostgreSQL's binary form. The statement's text names its type by a cast.
public enum PostgresValue: Sendable {
    /// NULL.
    case null
    /// `bool`.
    case bool(Bool)
    /// `int`.
    case int4(Int32)
    /// `bigint`.
    case int8(Int64)
    /// `text`.
    case text(String)
    /// `bytea`.
    case bytes([UInt8])
    /// `int[]`.
    case int4s([Int32])
    /// `bigint[]`.
    case int8s([Int64])
    /// `bytea[]`.
    case byteArrays([[UInt8]])
}

/// The parameters of a statement as libpq takes them: one run of bytes, and the offset of each parameter.
struct PostgresParameters {
    /// The values, one after the other.
    private(set) var bytes: [UInt8] = []
    /// The offset of each value; nil for NULL.
    private(set) var offsets: [Int?] = []
    /// The number of bytes of each value.
    private(set) var lengths: [Int32] = []

    /// Encodes `values`.
    init(_ values: [PostgresValue]) {
        for value in values {
            let start = bytes.count
            append(value)
            if case .null = value { offsets.append(nil) } else { offsets.append(start) }
            lengths.append(Int32(bytes.count - start))
        }
    }

    private mutating func append(_ value: PostgresValue) {
        switch value {
        case .null: break
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int4(let value): append(value)
        case .int8(let value): append(value)
        case .text(let value): bytes.append(contentsOf: value.utf8)
        case .bytes(let value): bytes.append(contentsOf: value)
        case .int4s(let values):
            appendHead(values.count, type: 23)
            for value in values { append(Int32(4), value) }
        case .int8s(let values):
            appendHead(values.count, type: 20)
            for value in values { append(Int32(8), value) }
        case .byteArrays(let values):
            bytes.reserveCapacity(bytes.count + values.reduce(20) { $0 + $1.count + 4 })
            appendHead(values.count, type: 17)
            for value in values {
                append(Int32(value.count))
                bytes.append(contentsOf: value)
            }
        }
    }

    /// Appends the head of an array: dimensions, whether it has NULLs, type of the elements, length, lower bound.
    private mutating func appendHead(_ count: Int, type: Int32) {
        append(Int32(count == 0 ? 0 : 1))
        append(Int32(0))
        append(type)
        guard count > 0 else { return }
        append(Int32(count))
        append(Int32(1))
    }

    private mutating func append(_ length: Int32, _ value: some FixedWidthInteger) {
        append(length)
        append(value)
    }

    private mutating func append(_ value: some FixedWidthInteger) {
        var shift = value.bitWidth
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
