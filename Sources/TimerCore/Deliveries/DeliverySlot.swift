/// What the table keeps of a delivery: 32 bytes.
struct DeliverySlot: BitwiseCopyable {
    /// Position of the event that is delivered: the delivery's id.
    var id: Int64 = 0
    /// The timer's place; where `isDetached`, the top half of the hash of its name.
    var owner: UInt32 = 0
    /// Of one in a ring: the timer's next delivery; the newest one's next is the oldest. Where `isDetached`: its life's
    /// place.
    var next: UInt32 = 0
    private var bits: UInt64 = 0
    private var last: UInt64 = 0

    private static let dueBits: UInt64 = 41
    private static let countShift: UInt64 = 41
    private static let attemptsShift: UInt64 = 51
    private static let stateShift: UInt64 = 58
    private static let detachedBit: UInt64 = 1 << 61
    private static let carriedBit: UInt64 = 1 << 62
    private static let redrivenBit: UInt64 = 1 << 63

    private static let endBits: UInt64 = 44
    private static let statusShift: UInt64 = 44
    private static let failureShift: UInt64 = 54
    private static let reasonShift: UInt64 = 58
    private static let reasonBits: UInt64 = 3 << reasonShift
    /// The reasons of a death, by their number in a slot.
    private static let reasons: [EventReason] = [.attempts, .backlog, .status, .age]

    /// How the last attempt ended; nil before that.
    var lastAttempt: LastAttempt? {
        get {
            let at = Int64(last & (1 << Self.endBits - 1))
            guard at != 0 else { return nil }
            return LastAttempt(
                at: at, status: Int(last >> Self.statusShift & 1023),
                failure: DeliveryFailure(rawValue: UInt8(last >> Self.failureShift & 15)))
        }
        set {
            last &= Self.reasonBits
            guard let newValue else { return }
            // A calendar outside of years 1970 to 2527 counts as their nearest instant.
            let at = UInt64(min(max(newValue.at, 1), 1 << Self.endBits - 1))
            last |=
                at | UInt64(min(max(newValue.status, 0), 1023)) << Self.statusShift
                | UInt64(newValue.failure?.rawValue ?? 0) << Self.failureShift
        }
    }

    private func part(_ shift: UInt64, _ width: UInt64) -> UInt64 { bits >> shift & (1 << width - 1) }

    private mutating func set(_ shift: UInt64, _ width: UInt64, _ value: UInt64) {
        let mask: UInt64 = 1 << width - 1
        bits = bits & ~(mask << shift) | (value & mask) << shift
    }

    /// Milliseconds, to 41 bits: see `due(near:)`.
    var dueLow: UInt64 { part(0, Self.dueBits) }

    mutating func setDue(_ milliseconds: Int64) { set(0, Self.dueBits, UInt64(bitPattern: milliseconds)) }

    /// Waiting: when the next attempt is due; dead: when it is forgotten. The one within 34 years of `reference`.
    func due(near reference: Int64) -> Int64 {
        let distance = Int64(bitPattern: (dueLow &- UInt64(bitPattern: reference)) << (64 - Self.dueBits))
        return reference + distance >> Int64(64 - Self.dueBits)
    }

    /// In the newest of a timer's pending ones: how many there are.
    var count: Int {
        get { Int(part(Self.countShift, 10)) }
        set { set(Self.countShift, 10, UInt64(newValue)) }
    }

    /// Attempts started since it was made or redriven, at most 127.
    var attempts: Int {
        get { Int(part(Self.attemptsShift, 7)) }
        set { set(Self.attemptsShift, 7, UInt64(min(newValue, 127))) }
    }

    var state: DeliveryState {
        get { DeliveryState(rawValue: UInt8(part(Self.stateShift, 3))) ?? .pending }
        set { set(Self.stateShift, 3, UInt64(newValue.rawValue)) }
    }

    /// Whether it is in no timer's ring: dead deliveries are in none, nor are those whose timer is deleted.
    var isDetached: Bool {
        get { bits & Self.detachedBit != 0 }
        set { bits = newValue ? bits | Self.detachedBit : bits & ~Self.detachedBit }
    }

    /// Whether its event was written anew: see `DeliveryTable.bodies`.
    var isCarried: Bool {
        get { bits & Self.carriedBit != 0 }
        set { bits = newValue ? bits | Self.carriedBit : bits & ~Self.carriedBit }
    }

    /// Whether it was dead and a client had it tried again: see `DeliveryTable.redriveInstants`.
    var isRedriven: Bool {
        get { bits & Self.redrivenBit != 0 }
        set { bits = newValue ? bits | Self.redrivenBit : bits & ~Self.redrivenBit }
    }

    /// Of a dead one: why it died.
    var reason: EventReason {
        get { Self.reasons[Int(last >> Self.reasonShift & 3)] }
        set {
            let number = Self.reasons.firstIndex(of: newValue) ?? 0
            last = last & ~Self.reasonBits | UInt64(number) << Self.reasonShift
        }
    }
}
