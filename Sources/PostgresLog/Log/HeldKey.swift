internal import Platform

/// The key of a row that begins an epoch. It stays taken for a while, even without the row's data: a stalled append
/// of the epoch before would take this very key.
struct HeldKey {
    /// How long the key stays taken, in nanoseconds.
    private static let lifetimeNs: Int64 = 600_000_000_000

    /// The row's `previous`.
    let key: Int64
    /// The row's position, which shows when the row was written, in seconds times 2³⁰.
    let position: Int64

    /// Whether a stalled append may still take the key.
    var isNeeded: Bool { Clocks.realtime() - (position >> 30) * 1_000_000_000 < Self.lifetimeNs }
}
