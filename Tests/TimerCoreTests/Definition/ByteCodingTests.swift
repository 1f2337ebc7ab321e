import Testing

@testable import TimerCore

struct ByteCodingTests {
    private static let values: [UInt64] = (0..<64 as Range<UInt64>).flatMap { (bit: UInt64) -> [UInt64] in
        let power: UInt64 = 1 << bit
        return [power, power - 1, power | 1, .max - power, .max - (power - 1)]
    }

    @Test(arguments: values)
    func `a number comes back`(value: UInt64) {
        var bytes: [UInt8] = [9]
        ByteCoding.append(value, to: &bytes)
        ByteCoding.append(signed: Int64(bitPattern: value), to: &bytes)
        bytes.append(9)
        var offset = 1
        #expect(ByteCoding.read(bytes.span, &offset) == value)
        #expect(offset == 1 + max(1, (64 - value.leadingZeroBitCount + 6) / 7))
        #expect(ByteCoding.readSigned(bytes.span, &offset) == Int64(bitPattern: value))
        #expect(offset == bytes.count - 1)
    }

    @Test(arguments: [(0, 1), (-1, 1), (63, 1), (-64, 1), (64, 2), (-65, 2), (.max, 10), (.min, 10)] as [(Int64, Int)])
    func `small magnitudes of either sign are short`(value: Int64, count: Int) {
        var bytes: [UInt8] = []
        ByteCoding.append(signed: value, to: &bytes)
        #expect(bytes.count == count)
    }

    @Test(arguments: values)
    func `what is cut short is none`(value: UInt64) {
        var bytes: [UInt8] = []
        ByteCoding.append(value, to: &bytes)
        for count in 0..<bytes.count {
            var offset = 0
            #expect(ByteCoding.read(Array(bytes.prefix(count)).span, &offset) == nil)
        }
    }

    @Test(
        arguments: [
            Array(repeating: 0xFF, count: 11), Array(repeating: 0x80, count: 12) + [1],
            Array(repeating: 0xFF, count: 9) + [2], Array(repeating: 0x80, count: 9) + [0x81, 0],
        ] as [[UInt8]])
    func `what is over 64 bits is none`(bytes: [UInt8]) {
        var offset = 0
        #expect(ByteCoding.read(bytes.span, &offset) == nil)
    }

    @Test func `fixed numbers are little-endian`() {
        let bytes: [UInt8] = Array(1...10)
        var offset = 1
        #expect(ByteCoding.readFixed(bytes.span, &offset, count: 2) == 0x0302)
        #expect(ByteCoding.readFixed(bytes.span, &offset, count: 0) == 0)
        #expect(ByteCoding.readFixed(bytes.span, &offset, count: 8) == nil && offset == 3)
        #expect(ByteCoding.readFixed(bytes.span, &offset, count: 7) == 0x0A_0908_0706_0504 && offset == 10)
    }

    @Test(arguments: values)
    func `a number is LEB128, whatever stands behind it`(value: UInt64) {
        var expected: [UInt8] = []
        var rest = value
        repeat {
            expected.append(UInt8(truncatingIfNeeded: rest & 0x7F) | (rest < 0x80 ? 0 : 0x80))
            rest >>= 7
        } while rest > 0
        var bytes: [UInt8] = []
        ByteCoding.append(value, to: &bytes)
        #expect(bytes == expected)
        for following in [[], [UInt8](repeating: 0xFF, count: 20), [UInt8](repeating: 0, count: 20)] {
            var offset = 0
            #expect(ByteCoding.read((bytes + following).span, &offset) == value)
            #expect(offset == bytes.count)
        }
    }

    @Test(arguments: 0...8)
    func `a fixed number takes as many bytes as it is said to`(count: Int) {
        let word: UInt64 = 0x1122_3344_5566_7788
        var bytes: [UInt8] = [9]
        bytes.append(addingCapacity: 8) { ByteCoding.append(word: word, count: count, to: &$0) }
        let written: [UInt8] = (0..<count).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        #expect(bytes == [9] + written)
        var offset = 1
        let mask: UInt64 = count == 8 ? .max : 1 << UInt64(8 * count) - 1
        #expect(ByteCoding.readFixed(bytes.span, &offset, count: count) == word & mask)
        offset = 2
        #expect(count == 0 || ByteCoding.readFixed(bytes.span, &offset, count: count) == nil)
    }
}
