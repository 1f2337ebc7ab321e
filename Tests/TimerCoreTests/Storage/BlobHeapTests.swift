import TestSupport
import Testing

@testable import TimerCore

/// The memory of definitions.
struct BlobHeapTests {
    private static func bytes(_ count: Int, _ seed: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ seed) }
    }

    private static func holds(_ blob: Blob, _ bytes: [UInt8]) -> Bool {
        blob.count == bytes.count && blob.withSpan { span in bytes.indices.allSatisfy { span[$0] == bytes[$0] } }
    }

    @Test(arguments: [0, 1, 7, 8, 9, 284, 1015, 1016, 1017, 70_000])
    func `a blob holds the bytes that it was made of`(count: Int) {
        var heap = BlobHeap()
        let blobs = (0..<(count > 2000 ? 3 : 300)).map { seed in heap.copy(Self.bytes(count, seed).span) }
        for (seed, blob) in blobs.enumerated() where !Self.holds(blob, Self.bytes(count, seed)) {
            Issue.record("blob \(seed) has other bytes")
        }
        for blob in blobs { heap.free(blob) }
        #expect(heap.slabCount <= 1)
    }

    @Test func `blobs of one size share a slab, and a large one has its own`() {
        var heap = BlobHeap()
        for seed in 0..<50 { _ = heap.copy(Self.bytes(281 + seed % 8, seed).span) }
        #expect(heap.slabCount == 1)
        _ = heap.copy(Self.bytes(5000, 0).span)
        #expect(heap.slabCount == 2)
    }

    @Test func `a freed block is used again before there is another slab`() {
        var heap = BlobHeap()
        let blobs = (0..<1000).map { seed in heap.copy(Self.bytes(300, seed).span) }
        let slabs = heap.slabCount
        for turn in 0..<10 {
            for index in stride(from: turn, to: 1000, by: 10) { heap.free(blobs[index]) }
            for index in stride(from: turn, to: 1000, by: 10) { _ = heap.copy(Self.bytes(300, index).span) }
        }
        #expect(heap.slabCount == slabs)
    }

    @Test func `the empty blob has no bytes and is freed like any other`() {
        var heap = BlobHeap()
        #expect(Blob.empty.count == 0)
        heap.free(.empty)
        #expect(heap.slabCount == 0)
    }

    @Test(arguments: 1...20)
    func `whatever comes and goes, each blob keeps its bytes, and memory goes with the last of a slab`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var heap = BlobHeap()
        var kept: [(blob: Blob, bytes: [UInt8])] = []
        let sizes = (0..<4).map { _ in Int.random(in: 0...1200, using: &random) }
        for turn in 0..<6000 {
            let grows = (turn / 1500).isMultiple(of: 2)
            if kept.isEmpty || Int.random(in: 0..<10, using: &random) < (grows ? 8 : 3) {
                let bytes = Self.bytes(sizes.randomElement(using: &random) ?? 0, turn)
                kept.append((heap.copy(bytes.span), bytes))
            } else {
                kept.swapAt(Int.random(in: kept.indices, using: &random), kept.count - 1)
                guard let last = kept.popLast() else { continue }
                #expect(Self.holds(last.blob, last.bytes))
                heap.free(last.blob)
            }
        }
        for entry in kept { heap.free(entry.blob) }
        #expect(heap.slabCount <= sizes.count)
    }
}
