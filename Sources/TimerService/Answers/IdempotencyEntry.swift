import TimerLog

/// A request with an idempotency key that is under way, was cut, or was answered. There may be a million, of 64 bytes.
struct IdempotencyEntry {
    var key = Hash128(high: 0, low: 0)
    var fingerprint = Hash128(high: 0, low: 0)
    /// Wall milliseconds at which the answer was given, or the run began.
    var answeredAt: Int64 = 0
    /// Position of the answer, or of the newest part; 0 for none.
    var position: Int64 = 0
    /// The number of the principal's share.
    var share: UInt32 = 0
    /// The places of the neighbours in the queue of the principal; 0 for none.
    var older: UInt32 = 0
    var newer: UInt32 = 0
    /// Marks in the upper three bits, the number of bytes in the rest.
    private var bits: UInt32 = 0

    private static let byteMask: UInt32 = 1 << 29 - 1

    private func has(_ mark: UInt32) -> Bool { bits & mark != 0 }

    private mutating func set(_ mark: UInt32, _ isSet: Bool) { bits = isSet ? bits | mark : bits & ~mark }

    /// Whether a request is being carried out.
    var isUnderWay: Bool {
        get { has(1 << 29) }
        set { set(1 << 29, newValue) }
    }
    /// Whether the answer is whole.
    var isAnswered: Bool {
        get { has(1 << 30) }
        set { set(1 << 30, newValue) }
    }
    /// Whether the entry is in the queue of its principal.
    var isQueued: Bool {
        get { has(1 << 31) }
        set { set(1 << 31, newValue) }
    }
    /// Bytes of the answer, or of its parts.
    var byteCount: Int {
        get { Int(bits & Self.byteMask) }
        set { bits = bits & ~Self.byteMask | min(UInt32(clamping: newValue), Self.byteMask) }
    }
}
