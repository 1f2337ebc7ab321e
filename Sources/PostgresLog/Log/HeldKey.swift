internal import Platform

/// The key of a row that begins an epoch. It stays taken for a while, also where the row's data are gone: an append of the epoch
/// before that stalled comes for this very key.
struct HeldKey {
    /// How long it stays, in nanoseconds.
    private static let lifetimeNs: Int64 = 600_000_000_000

    /// The row's `previous`.
    let key: Int64
    /// The row's position. It says when the row was written, in seconds times 2³⁰.
    let position: Int64

    /// Whether an append may still come for it.
    var isNeeded: Bool { Clocks.realtime() - (position >> 30) * 1_000_000_000 < Self.lifetimeNs }
}
