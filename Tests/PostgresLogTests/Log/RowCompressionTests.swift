import TestSupport
import Testing

@testable import PostgresLog

/// Row data as it is stored.
struct RowCompressionTests {
    private func data(_ stored: [UInt8]) -> [UInt8]? {
        unsafe stored.withUnsafeBytes { bytes in unsafe RowCompression.data(bytes) }
    }

    @Test(arguments: [1, 10, 350, 10_000, 300_000])
    func `data is stored as it is or smaller, and comes back`(_ count: Int) {
        let compression = RowCompression()
        for bytes in [pattern(1024, count), (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &>> 3) }] {
            var row = bytes
            row[0] = 2
            let stored = compression.stored(row)
            #expect(stored.count <= row.count)
            #expect(data(stored) == row)
            let head = Array(stored.prefix(RowCompression.headBytes))
            #expect(RowCompression.dataCount(head, of: stored.count) == row.count)
        }
    }

    @Test func `a frame that is cut, damaged or too large is refused`() {
        let stored = RowCompression().stored([UInt8](repeating: 2, count: 5000))
        #expect(stored.count < 100)
        for count in 4..<stored.count { #expect(data(Array(stored.prefix(count))) == nil) }
        // A sound frame is read after damaged ones.
        #expect(data(stored) == [UInt8](repeating: 2, count: 5000))
        // A frame that says it holds 2³⁹ bytes.
        let boast: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0x80, 0, 0, 0, 1, 0, 0]
        #expect(data(boast) == nil)
        #expect(RowCompression.dataCount(boast, of: boast.count) == nil)
    }

    @Test func `many threads unpack rows at once`() async {
        let rows = (1...64).map { pattern(Int64($0) * 1024, 20_000) }
        let stored = rows.map { RowCompression().stored([2] + $0) }
        let sound = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<12 {
                group.addTask { zip(stored, rows).filter { data($0) == [2] + $1 }.count }
            }
            return await group.reduce(0, +)
        }
        #expect(sound == 12 * 64)
    }
}
