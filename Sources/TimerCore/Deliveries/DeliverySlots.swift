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
