/// Cuts the bytes that come from another process into messages. Behind the four bytes of its length stands each message.
struct FrameBuffer {
    /// Bytes of the longest message.
    private let limit: Int
    private var bytes: [UInt8] = []
    /// Index of the first byte that is not taken.
    private var start = 0

    /// - Parameter limit: bytes of the longest message.
    init(limit: Int) { self.limit = limit }

    /// Adds what came.
    mutating func add(_ more: [UInt8]) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes += more
    }

    /// The next whole message, without its length; nil until there is one. What is kept is a part of one message.
    mutating func next() throws(FrameError) -> ArraySlice<UInt8>? {
        guard bytes.count - start >= 4 else { return nil }
        var reader = FrameReader(bytes[start..<start + 4])
        let count = Int(try reader.integer(UInt32.self))
        guard count <= limit else { throw .tooLong }
        guard bytes.count - start - 4 >= count else { return nil }
        defer { start += 4 + count }
        return bytes[start + 4..<start + 4 + count]
    }
}
