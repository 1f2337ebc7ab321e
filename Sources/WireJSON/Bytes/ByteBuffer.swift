/// A growing run of bytes in memory of its own, which is kept from one use to the next.
///
/// A JSON text is written in about a hundred small pieces; an array would check at each append whether it is shared.
@safe struct ByteBuffer: ~Copyable {
    private var memory = unsafe UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
    /// The number of bytes written since the last `removeAll`.
    private(set) var count = 0

    private static let leastCapacity = 512

    deinit {
        unsafe memory.deallocate()
    }

    /// Appends what `write` puts into its span, which has room for `room` bytes at least.
    @inline(__always)
    mutating func append(upTo room: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        if unsafe memory.count - count < room { grow(by: room) }
        let free = unsafe UnsafeMutableBufferPointer(rebasing: memory[count...])
        var output = unsafe OutputSpan(buffer: free, initializedCount: 0)
        write(&output)
        count += unsafe output.finalize(for: free)
    }

    /// Calls `read` with what was written.
    func withSpan(_ read: (Span<UInt8>) -> Void) {
        read(unsafe Span(_unsafeElements: UnsafeBufferPointer(rebasing: memory[..<count])))
    }

    /// Forgets what was written and keeps the memory, unless it is more than `kept` bytes.
    mutating func removeAll(keeping kept: Int) {
        count = 0
        if unsafe memory.count > kept {
            unsafe memory.deallocate()
            unsafe memory = UnsafeMutableBufferPointer(start: nil, count: 0)
        }
    }

    private mutating func grow(by room: Int) {
        let capacity = unsafe max(count + room, 2 * memory.count, Self.leastCapacity)
        let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: capacity)
        _ = unsafe larger.update(fromContentsOf: memory[..<count])
        unsafe memory.deallocate()
        unsafe memory = larger
    }
}
