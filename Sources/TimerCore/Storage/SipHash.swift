/// SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"), keyed with the log's own secret.
///
/// The standard library's `Hasher` is the same function with a key that changes with every start; list cursors must
/// outlive a restart. The hash is keyed so that clients can't choose ids that collide.
public struct SipHash: Sendable {
    private let key0: UInt64
    private let key1: UInt64

    /// Makes a hash keyed with the first 16 bytes of `secret`; missing ones count as zero.
    public init(secret: [UInt8]) {
        var words: (UInt64, UInt64) = (0, 0)
        for (index, byte) in secret.prefix(16).enumerated() {
            if index < 8 {
                words.0 |= UInt64(byte) << (8 * index)
            } else {
                words.1 |= UInt64(byte) << (8 * (index - 8))
            }
        }
        (key0, key1) = words
    }

    /// Returns the hash of `bytes`; `tweak` makes an independent function of the same key.
    public func hash(_ bytes: Span<UInt8>, tweak: UInt64 = 0) -> UInt64 {
        var state = State(key0 ^ tweak, key1)
        var offset = 0
        while offset + 8 <= bytes.count {
            state.compress(unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var last = UInt64(truncatingIfNeeded: bytes.count) << 56
        var shift: UInt64 = 0
        while offset < bytes.count {
            last |= UInt64(bytes[offset]) << shift
            shift += 8
            offset += 1
        }
        state.compress(last)
        return state.finish()
    }

    private struct State {
        var v0: UInt64
        var v1: UInt64
        var v2: UInt64
        var v3: UInt64

        init(_ key0: UInt64, _ key1: UInt64) {
            v0 = key0 ^ 0x736f_6d65_7073_6575
            v1 = key1 ^ 0x646f_7261_6e64_6f6d
            v2 = key0 ^ 0x6c79_6765_6e65_7261
            v3 = key1 ^ 0x7465_6462_7974_6573
        }

        private mutating func round() {
            v0 &+= v1
            v1 = (v1 << 13 | v1 >> 51) ^ v0
            v0 = v0 << 32 | v0 >> 32
            v2 &+= v3
            v3 = (v3 << 16 | v3 >> 48) ^ v2
            v0 &+= v3
            v3 = (v3 << 21 | v3 >> 43) ^ v0
            v2 &+= v1
            v1 = (v1 << 17 | v1 >> 47) ^ v2
            v2 = v2 << 32 | v2 >> 32
        }

        mutating func compress(_ word: UInt64) {
            v3 ^= word
            round()
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xFF
            round()
            round()
            round()
            return v0 ^ v1 ^ v2 ^ v3
        }
    }
}
