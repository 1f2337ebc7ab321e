extension [UInt8] {
    /// A copy of `source`.
    @inlinable @inline(__always)
    public init(copying source: Span<UInt8>) {
        self = unsafe source.withUnsafeBufferPointer { buffer in unsafe Array(buffer) }
    }

    /// Appends a copy of `source` in one piece. The standard library's `append(contentsOf:)` takes no span.
    @inlinable @inline(__always)
    public mutating func append(copying source: Span<UInt8>) {
        unsafe source.withUnsafeBufferPointer { buffer in unsafe append(contentsOf: buffer) }
    }
}
