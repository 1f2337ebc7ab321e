/// The table's entry for a delivery: 32 bytes.
struct DeliverySlot: BitwiseCopyable {
    /// The position of the event that is delivered, which is the delivery's id.
    var id: Int64 = 0
    /// The timer's place; if `isDetached`, the top half of the hash of the timer's name.
    var owner: UInt32 = 0
    /// The timer's next delivery in its ring; the newest one's next is the oldest. If `isDetached`, the place of
    /// the delivery's life.
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
    /// The reasons for a death, by their number in a slot.
    private static let reasons: [EventReason] = [.attempts, .backlog, .status, .age]

    /// The end of the last attempt; nil before one has ended.
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
            // An instant outside of the years 1970 to 2527 is stored as the nearest one within.
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

    /// The low 41 bits of the due instant in milliseconds: see `due(near:)`.
    var dueLow: UInt64 { part(0, Self.dueBits) }

    mutating func setDue(_ milliseconds: Int64) { set(0, Self.dueBits, UInt64(bitPattern: milliseconds)) }

    /// Returns the instant, within 34 years of `reference`, of a waiting delivery's next attempt, or at which a
    /// dead one is forgotten.
    func due(near reference: Int64) -> Int64 {
        let distance = Int64(bitPattern: (dueLow &- UInt64(bitPattern: reference)) << (64 - Self.dueBits))
        return reference + distance >> Int64(64 - Self.dueBits)
    }

    /// The number of the timer's pending deliveries, kept in the newest of them.
    var count: Int {
        get { Int(part(Self.countShift, 10)) }
        set { set(Self.countShift, 10, UInt64(newValue)) }
    }

    /// The number of attempts started since the delivery was made or redriven, at most 127.
    var attempts: Int {
        get { Int(part(Self.attemptsShift, 7)) }
        set { set(Self.attemptsShift, 7, UInt64(min(newValue, 127))) }
    }

    var state: DeliveryState {
        get { DeliveryState(rawValue: UInt8(part(Self.stateShift, 3))) ?? .pending }
        set { set(Self.stateShift, 3, UInt64(newValue.rawValue)) }
    }

    /// Whether the delivery is in no timer's ring: dead ones are in none, nor those whose timer is deleted.
    var isDetached: Bool {
        get { bits & Self.detachedBit != 0 }
        set { bits = newValue ? bits | Self.detachedBit : bits & ~Self.detachedBit }
    }

    /// Whether the delivery's event was written again: see `DeliveryTable.bodies`.
    var isCarried: Bool {
        get { bits & Self.carriedBit != 0 }
        set { bits = newValue ? bits | Self.carriedBit : bits & ~Self.carriedBit }
    }

    /// Whether the delivery was dead and a client redrove it: see `DeliveryTable.redriveInstants`.
    var isRedriven: Bool {
        get { bits & Self.redrivenBit != 0 }
        set { bits = newValue ? bits | Self.redrivenBit : bits & ~Self.redrivenBit }
    }

    /// The reason a dead delivery died.
    var reason: EventReason {
        get { Self.reasons[Int(last >> Self.reasonShift & 3)] }
        set {
            let number = Self.reasons.firstIndex(of: newValue) ?? 0
            last = last & ~Self.reasonBits | UInt64(number) << Self.reasonShift
        }
    }
}

/// A slab of deliveries. Place 0 is never used: it means none.
struct DeliverySlots: ~Copyable, ArmedTimers {
    private var slots = PagedStorage<DeliverySlot>(pageShift: 12, fill: DeliverySlot())
    private var free: [UInt32] = []

    subscript(place: UInt32) -> DeliverySlot {
        _read { yield slots[Int(place)] }
        _modify { yield &slots[Int(place)] }
    }

    mutating func take(_ id: Int64) -> UInt32 {
        if slots.count == 0 { _ = slots.grow(by: 1) }
        let place = free.popLast() ?? UInt32(slots.grow(by: 1))
        slots[Int(place)] = DeliverySlot()
        slots[Int(place)].id = id
        return place
    }

    mutating func release(_ place: UInt32) {
        slots[Int(place)] = DeliverySlot()
        free.append(place)
    }

    /// Whether an entry of the wheel is live: its delivery still waits for that instant.
    func isArmed(with entry: TimerWheel.Entry) -> Bool {
        let slot = slots[Int(entry.slot)]
        guard slot.state == .waiting || slot.state == .dead else { return false }
        return slot.due(near: entry.due) == entry.due && Self.generation(slot.id) == entry.generation
    }

    func weight(of entry: TimerWheel.Entry) -> Int { 1 }

    static func generation(_ id: Int64) -> UInt32 { UInt32(truncatingIfNeeded: id) }
}
