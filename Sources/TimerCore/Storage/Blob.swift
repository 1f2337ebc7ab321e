/// A run of bytes on the heap with its length before it: four bytes of overhead where an `Array` takes 32.
///
/// The table that owns a blob frees it by hand.
@safe struct Blob: BitwiseCopyable {
    private var memory: UnsafeMutableRawPointer?

    /// A blob without bytes, which takes no memory.
    static var empty: Blob { unsafe Blob(memory: nil) }

    private init(memory: UnsafeMutableRawPointer?) { unsafe self.memory = unsafe memory }

    /// Copies `bytes`, at most 4 GiB.
    init(copying bytes: Span<UInt8>) {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 4 + bytes.count, alignment: 4)
        unsafe memory.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe (memory + 4).copyMemory(from: start, byteCount: source.count)
        }
        unsafe self.memory = unsafe memory
    }

    /// The number of bytes.
    var count: Int { unsafe memory.map { unsafe Int($0.load(as: UInt32.self)) } ?? 0 }

    /// Runs `body` on the bytes.
    func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        guard let memory = unsafe memory else { return body(Span()) }
        let bytes = unsafe (memory + 4).assumingMemoryBound(to: UInt8.self)
        return body(unsafe Span(_unsafeStart: bytes, count: count))
    }

    /// Frees the memory.
    mutating func free() {
        unsafe memory?.deallocate()
        unsafe memory = nil
    }
}
