/// A run of bytes in a `BlobHeap`, valid until the heap is told to free it, or ends: eight bytes of overhead where an
/// `Array` takes 32.
@safe struct Blob: BitwiseCopyable {
    /// A block: the number of bytes, the index of its slab, and the bytes.
    fileprivate let memory: UnsafeMutableRawPointer?

    /// A blob without bytes, which takes no memory.
    static var empty: Blob { unsafe Blob(memory: nil) }

    /// The number of bytes.
    var count: Int { unsafe memory.map { unsafe Int($0.load(as: UInt32.self)) } ?? 0 }

    /// Runs `body` on the bytes.
    func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        guard let memory = unsafe memory else { return body(Span()) }
        let bytes = unsafe (memory + BlobHeap.headBytes).assumingMemoryBound(to: UInt8.self)
        return body(unsafe Span(_unsafeStart: bytes, count: count))
    }
}

/// The memory of blobs that stay: blocks of nearly one size lie side by side in slabs.
///
/// In the allocator's own memory millions of blobs would lie between what requests allocate and free, which would then be
/// found all over memory, not in the processor's caches; and each would take a call of the allocator and eight bytes more.
@safe struct BlobHeap: ~Copyable {
    /// The bytes of a block's head.
    fileprivate static let headBytes = 8
    /// The most bytes of a slab of several blocks. A larger one would seldom be empty where timers end in another order than
    /// they came.
    private static let slabBytes = 16 << 10
    /// The sizes of blocks are multiples of this number of bytes. A block larger than `mostBlockBytes` has a slab for itself.
    private static let stepBytes = 8
    private static let mostBlockBytes = 1024

    @safe private struct Slab: BitwiseCopyable {
        let memory: UnsafeMutableRawPointer?
        let blockBytes: Int32
        /// The number of blocks.
        let blocks: UInt16
        /// The number of blocks that are in use.
        var used: UInt16 = 0
        /// The number of blocks that have ever been in use: the first ones.
        var begun: UInt16 = 0
        /// The index, plus one, of the block that was freed last; 0 for none. A freed block begins with the same of the one
        /// that was freed before it.
        var freed: UInt16 = 0
        /// The slab's place in `open`, or -1 where it is full. In an unused slab: the index of the next unused one, or -1.
        var place: Int32 = -1

        static var none: Slab { unsafe Slab(memory: nil, blockBytes: 0, blocks: 0) }

        func block(_ index: UInt16) -> UnsafeMutableRawPointer {
            unsafe memory.unsafelyUnwrapped + Int(index) * Int(blockBytes)
        }
    }

    private var slabs = PagedStorage(pageShift: 10, fill: Slab.none)
    /// The index of the unused slab that was removed last, or -1.
    private var unused: Int32 = -1
    /// The number of slabs that are in use.
    private(set) var slabCount = 0
    /// The slabs with free blocks, by the size of their blocks in steps.
    private var open = [[UInt32]](repeating: [], count: mostBlockBytes / stepBytes + 1)

    deinit {
        for index in 0..<slabs.count { unsafe slabs[index].memory?.deallocate() }
    }

    /// Copies `bytes`, at most 1 GiB.
    mutating func copy(_ bytes: Span<UInt8>) -> Blob {
        let steps = (Self.headBytes + bytes.count + Self.stepBytes - 1) / Self.stepBytes
        let known = steps < open.count ? open[steps].last : nil
        let slab = known ?? addSlab(ofSteps: steps)
        let memory = unsafe takeBlock(of: Int(slab))
        unsafe memory.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
        unsafe memory.storeBytes(of: slab, toByteOffset: 4, as: UInt32.self)
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe (memory + Self.headBytes).copyMemory(from: start, byteCount: source.count)
        }
        return unsafe Blob(memory: memory)
    }

    /// Frees a blob of this heap, which nobody may read from then on.
    mutating func free(_ blob: Blob) {
        guard let memory = unsafe blob.memory else { return }
        let index = Int(unsafe memory.load(fromByteOffset: 4, as: UInt32.self))
        let block = unsafe (memory - slabs[index].memory.unsafelyUnwrapped) / Int(slabs[index].blockBytes)
        unsafe memory.storeBytes(of: slabs[index].freed, as: UInt16.self)
        slabs[index].freed = UInt16(block + 1)
        slabs[index].used -= 1
        // An empty slab stays while it is the only one of its size with free blocks: a blob that comes and goes would
        // allocate it each time.
        if slabs[index].used == 0, slabs[index].blocks == 1 || open[steps(of: index)].count > 1 {
            removeSlab(index)
        } else if slabs[index].place < 0 {
            reopen(index)
        }
    }

    private mutating func addSlab(ofSteps steps: Int) -> UInt32 {
        let blockBytes = steps * Self.stepBytes
        let blocks = steps < open.count ? Self.slabBytes / blockBytes : 1
        let memory = UnsafeMutableRawPointer.allocate(byteCount: blocks * blockBytes, alignment: Self.headBytes)
        let slab = unsafe Slab(memory: memory, blockBytes: Int32(blockBytes), blocks: UInt16(blocks))
        let index = unused >= 0 ? Int(unused) : slabs.grow(by: 1)
        if unused >= 0 { unused = slabs[index].place }
        slabs[index] = slab
        slabCount += 1
        if blocks > 1 { reopen(index) }
        return UInt32(index)
    }

    private mutating func removeSlab(_ index: Int) {
        let place = Int(slabs[index].place)
        if place >= 0 {
            let last = open[steps(of: index)].removeLast()
            if Int(last) != index {
                open[steps(of: index)][place] = last
                slabs[Int(last)].place = Int32(place)
            }
        }
        unsafe slabs[index].memory?.deallocate()
        slabs[index] = .none
        slabs[index].place = unused
        unused = Int32(index)
        slabCount -= 1
    }

    private mutating func reopen(_ index: Int) {
        slabs[index].place = Int32(open[steps(of: index)].count)
        open[steps(of: index)].append(UInt32(index))
    }

    /// Takes a free block of a slab that has the last place in `open`, or one block alone.
    private mutating func takeBlock(of index: Int) -> UnsafeMutableRawPointer {
        let memory: UnsafeMutableRawPointer
        if slabs[index].freed > 0 {
            unsafe memory = slabs[index].block(slabs[index].freed - 1)
            slabs[index].freed = unsafe memory.load(as: UInt16.self)
        } else {
            unsafe memory = slabs[index].block(slabs[index].begun)
            slabs[index].begun += 1
        }
        slabs[index].used += 1
        if slabs[index].used == slabs[index].blocks, slabs[index].place >= 0 {
            open[steps(of: index)].removeLast()
            slabs[index].place = -1
        }
        return unsafe memory
    }

    private func steps(of index: Int) -> Int { Int(slabs[index].blockBytes) / Self.stepBytes }
}
