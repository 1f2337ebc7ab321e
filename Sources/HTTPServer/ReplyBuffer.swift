/// The bytes of an answer's body while the library writes them: at one address until the request is completed.
@safe struct ReplyBuffer: ~Copyable {
    private var storage = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Copies `bytes` in. The result is valid until the next `load` or `release`.
    mutating func load(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
        if unsafe storage.count < bytes.count {
            unsafe storage.deallocate()
            unsafe storage = .allocate(byteCount: max(bytes.count, 512), alignment: 16)
        }
        unsafe storage.copyBytes(from: bytes)
        return unsafe UnsafeMutableRawBufferPointer(rebasing: storage[..<bytes.count])
    }

    /// Gives a large buffer back.
    mutating func release() {
        guard unsafe storage.count > Response.keptBytes else { return }
        unsafe storage.deallocate()
        unsafe storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    deinit {
        unsafe storage.deallocate()
    }
}
