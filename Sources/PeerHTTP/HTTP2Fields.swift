/// The header fields of a request or an answer, in the order in which they are sent.
struct HTTP2Fields: Sendable {
    struct Field {
        let name: Range<Int>
        let value: Range<Int>
        /// Whether the value is kept out of the connection's table of fields: see RFC 7541, 7.1.3.
        let isRare: Bool
    }

    /// Names and values, one after the other.
    private(set) var bytes: [UInt8] = []
    private(set) var fields: [Field] = []

    /// No fields.
    init() {}

    /// Adds a field. The name is in small letters; pseudo fields, which begin with a colon, come first.
    ///
    /// - Parameter isRare: whether the value is not expected again, so that it is not kept in the connection's table.
    mutating func add(_ name: StaticString, _ value: some Sequence<UInt8>, isRare: Bool = false) {
        let start = bytes.count
        bytes.append(contentsOf: "\(name)".utf8)
        close(start, bytes.count, value, isRare)
    }

    /// Adds a field whose name is written in small letters, whatever its case.
    mutating func add(_ name: ArraySlice<UInt8>, _ value: some Sequence<UInt8>, isRare: Bool = false) {
        let start = bytes.count
        for byte in name { bytes.append(byte &- 0x41 < 26 ? byte | 0x20 : byte) }
        close(start, bytes.count, value, isRare)
    }

    private mutating func close(_ start: Int, _ end: Int, _ value: some Sequence<UInt8>, _ isRare: Bool) {
        bytes.append(contentsOf: value)
        fields.append(Field(name: start..<end, value: end..<bytes.count, isRare: isRare))
    }
}
