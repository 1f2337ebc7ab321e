/// A run of bytes in a `BlobHeap`, which frees it: eight bytes of overhead where an `Array` takes 32.
@safe struct Blob: BitwiseCopyable {
    /// A cell: the number of bytes, the index of its chunk, and the bytes.
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

/// The memory of blobs that stay: cells of nearly one size lie side by side in chunks.
///
/// In the allocator's own memory millions of blobs would lie between what requests allocate and free, which would then be
/// found all over memory, not in the processor's caches; and each would take a call of the allocator and eight bytes more.
@safe struct BlobHeap: ~Copyable {
    /// The bytes of a cell's head.
    fileprivate static let headBytes = 8
    private static let chunkBytes = 64 << 10
    /// The sizes of cells are multiples of this number of bytes. A larger cell than `mostCellBytes` has a chunk for itself.
    private static let stepBytes = 8
    private static let mostCellBytes = 1024

    @safe private struct Chunk: BitwiseCopyable {
        let memory: UnsafeMutableRawPointer?
        let cellBytes: Int32
        /// The number of cells, of those in use, and of those that have ever been.
        let cells: UInt16
        var used: UInt16 = 0
        var begun: UInt16 = 0
        /// The index, plus one, of the cell that was freed last and begins with that of the one before it; 0 for none.
        var freed: UInt16 = 0
        /// The chunk's place in `open`; -1 where it is full.
        var place: Int32 = -1

        static var none: Chunk { unsafe Chunk(memory: nil, cellBytes: 0, cells: 0) }

        func cell(_ index: UInt16) -> UnsafeMutableRawPointer {
            unsafe memory.unsafelyUnwrapped + Int(index) * Int(cellBytes)
        }
    }

    private var chunks = PagedStorage(pageShift: 10, fill: Chunk.none)
    /// The indices of `chunks` that are not in use.
    private var unused: [UInt32] = []
    /// The chunks with free cells, by the size of their cells in steps.
    private var open = [[UInt32]](repeating: [], count: mostCellBytes / stepBytes + 1)

    deinit {
        for index in 0..<chunks.count { unsafe chunks[index].memory?.deallocate() }
    }

    /// The number of chunks.
    var chunkCount: Int { chunks.count - unused.count }

    /// Copies `bytes`, at most 2 GiB.
    mutating func copy(_ bytes: Span<UInt8>) -> Blob {
        let steps = (Self.headBytes + bytes.count + Self.stepBytes - 1) / Self.stepBytes
        let known = steps < open.count ? open[steps].last : nil
        let chunk = known ?? addChunk(ofSteps: steps)
        let memory = unsafe takeCell(of: Int(chunk))
        unsafe memory.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
        unsafe memory.storeBytes(of: chunk, toByteOffset: 4, as: UInt32.self)
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
        let cell = unsafe (memory - chunks[index].memory.unsafelyUnwrapped) / Int(chunks[index].cellBytes)
        unsafe memory.storeBytes(of: chunks[index].freed, as: UInt16.self)
        chunks[index].freed = UInt16(cell + 1)
        chunks[index].used -= 1
        // The last chunk with free cells stays: a blob that comes and goes would make and free it each time.
        if chunks[index].used == 0, chunks[index].cells == 1 || open[steps(of: index)].count > 1 {
            removeChunk(index)
        } else if chunks[index].place < 0 {
            reopen(index)
        }
    }

    private mutating func addChunk(ofSteps steps: Int) -> UInt32 {
        let cellBytes = steps * Self.stepBytes
        let cells = steps < open.count ? Self.chunkBytes / cellBytes : 1
        let memory = UnsafeMutableRawPointer.allocate(byteCount: cells * cellBytes, alignment: Self.headBytes)
        let chunk = unsafe Chunk(memory: memory, cellBytes: Int32(cellBytes), cells: UInt16(cells))
        let index = unused.popLast() ?? UInt32(chunks.grow(by: 1))
        chunks[Int(index)] = chunk
        if cells > 1 { reopen(Int(index)) }
        return index
    }

    private mutating func removeChunk(_ index: Int) {
        let place = Int(chunks[index].place)
        if place >= 0 {
            let last = open[steps(of: index)].removeLast()
            if Int(last) != index {
                open[steps(of: index)][place] = last
                chunks[Int(last)].place = Int32(place)
            }
        }
        unsafe chunks[index].memory?.deallocate()
        chunks[index] = .none
        unused.append(UInt32(index))
    }

    private mutating func reopen(_ index: Int) {
        chunks[index].place = Int32(open[steps(of: index)].count)
        open[steps(of: index)].append(UInt32(index))
    }

    /// Takes a free cell of a chunk that has the last place in `open`, or one cell alone.
    private mutating func takeCell(of index: Int) -> UnsafeMutableRawPointer {
        let memory: UnsafeMutableRawPointer
        if chunks[index].freed > 0 {
            unsafe memory = chunks[index].cell(chunks[index].freed - 1)
            chunks[index].freed = unsafe memory.load(as: UInt16.self)
        } else {
            unsafe memory = chunks[index].cell(chunks[index].begun)
            chunks[index].begun += 1
        }
        chunks[index].used += 1
        if chunks[index].used == chunks[index].cells, chunks[index].place >= 0 {
            open[steps(of: index)].removeLast()
            chunks[index].place = -1
        }
        return unsafe memory
    }

    private func steps(of index: Int) -> Int { Int(chunks[index].cellBytes) / Self.stepBytes }
}
