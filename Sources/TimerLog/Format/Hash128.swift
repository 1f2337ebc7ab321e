public import TimerCore

/// 128 bits of a keyed hash.
public struct Hash128: Sendable, Hashable {
    /// The first half.
    public var high: UInt64
    /// The second half.
    public var low: UInt64

    /// Makes a hash of two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Hashes `bytes` under the key of `siphash`.
    public init(_ bytes: Span<UInt8>, siphash: SipHash, tweak: UInt64) {
        high = siphash.hash(bytes, tweak: tweak)
        low = siphash.hash(bytes, tweak: ~tweak)
    }
}
