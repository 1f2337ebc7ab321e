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
