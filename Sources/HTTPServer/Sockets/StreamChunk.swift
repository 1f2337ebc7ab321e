/// Bytes for the streams of one loop, framed once for all of them.
public struct StreamChunk: Sendable {
    /// The bytes as a chunk of a chunked body.
    let framed: [UInt8]
    /// The range of the bytes themselves in `framed`.
    let content: Range<Int>

    /// Frames `content`, which is not empty.
    public init(_ content: some Collection<UInt8>) {
        let size = String(content.count, radix: 16)
        var framed: [UInt8] = []
        framed.reserveCapacity(content.count + size.utf8.count + 4)
        framed.append(contentsOf: size.utf8)
        framed.append(contentsOf: [13, 10])
        let start = framed.count
        framed.append(contentsOf: content)
        self.content = start..<framed.count
        framed.append(contentsOf: [13, 10])
        self.framed = framed
    }

    /// The bytes themselves.
    public var bytes: ArraySlice<UInt8> { framed[content] }
}
