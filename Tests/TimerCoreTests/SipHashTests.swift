import Testing

@testable import TimerCore

/// The hash against other implementations' values.
struct SipHashTests {
    /// Bytes 0, 1, 2, … hashed under a key of zeros, which is what `hash(bytes)` of CPython 3.11 does with
    /// `PYTHONHASHSEED=0`, and under the key 0, 1, …, 15 of the paper.
    @Test(
        arguments: [
            (0, 0xd1fb_a762_150c_532c, 0xabac_0158_050f_c4dc), (1, 0x68a9_1412_8e01_e473, 0xc9f4_9bf3_7d57_ca93),
            (3, 0x4d4c_9a4a_8ef6_e0ad, 0x8bf8_0ab8_e7dd_f7fb), (7, 0x2f09_8ab0_c751_325a, 0xd392_7d98_9bb1_1140),
            (8, 0xead4_11e6_7ebe_2eea, 0x3690_9511_8d29_9a8e), (9, 0x7592_7f9d_9512_4362, 0x25a4_8eb3_6c06_3de4),
            (15, 0xf30e_b725_bb91_c9ea, 0xd320_d86d_2a51_9956), (16, 0x8972_1884_33a5_c5b7, 0xcc4f_dd1a_7d90_8b66),
            (63, 0x385d_3e39_e5f3_7359, 0x9d19_9062_b7bb_b3a8),
        ] as [(UInt8, UInt64, UInt64)])
    func `it is SipHash-1-3`(count: UInt8, underZeros: UInt64, underPaperKey: UInt64) {
        let message = Array(0..<count)
        #expect(SipHash(secret: []).hash(message.span) == underZeros)
        #expect(SipHash(secret: Array(repeating: 0, count: 16)).hash(message.span) == underZeros)
        #expect(SipHash(secret: Array(0..<16)).hash(message.span) == underPaperKey)
        #expect(SipHash(secret: Array(0..<40)).hash(message.span) == underPaperKey)
    }

    @Test func `a tweak is another key`() {
        let message: [UInt8] = Array("timer".utf8)
        let secret: [UInt8] = Array(0..<16)
        var other = secret
        other[0] ^= 1
        #expect(SipHash(secret: secret).hash(message.span, tweak: 1) == SipHash(secret: other).hash(message.span))
        #expect(SipHash(secret: secret).hash(message.span, tweak: 1) != SipHash(secret: secret).hash(message.span))
    }
}

/// Integers of variable length.
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
}
