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
