/// Every delivery that is pending, in flight and waiting ones included, or dead.
///
/// A timer's pending deliveries are a ring in the order of their ids; the timer's slot names the newest, whose
/// `next` is the oldest. Only the oldest is ever attempted, so that a timer's deliveries keep their order.
struct DeliveryTable: ~Copyable {
    /// The most pending deliveries of one timer.
    static let mostPerTimer = 1000
    /// The time for which a dead letter is kept, in milliseconds: 7 days.
    static let deadLifetime: Int64 = 7 * 86_400_000
    /// The longest wait for an attempt, in milliseconds: twice the longest `max` of a retry policy.
    private static let longestWait: Int64 = 14 * 86_400_000
    private static let bodyShards: Int64 = 256

    var slots = DeliverySlots()
    /// The instants at which waiting deliveries are attempted again and dead ones forgotten, on the elapsed clock.
    var wheel = TimerWheel(position: 0)
    private(set) var pending = DeliveryIndex()
    private(set) var dead = DeliveryIndex()
    /// The number of pending deliveries whose timer is deleted.
    private(set) var detachedCount = 0
    /// The lives of timers that deliveries outside of rings belong to.
    var lives = DeliveryLives()
    /// The positions of the records that hold the events of carried deliveries, by id.
    private var bodies = [[Int64: Int64]](repeating: [:], count: Int(DeliveryTable.bodyShards))
    /// The instants at which deliveries were redriven, in wall milliseconds, by id: the age of each counts from then.
    private var redriveInstants: [Int64: Int64] = [:]
    /// Timers with pending deliveries whose definition was changed, each with the position of the record of the
    /// change: an attempt uses the new definition, so none begins before that record is durable.
    var redefinedAt: [SlotIndex: Int64] = [:]
    /// Redriven deliveries with no attempt since, each with the position of the record of the redrive: no attempt
    /// begins before that record is durable, although an older entry may remain in `ready`.
    var redrivenAt: [Int64: Int64] = [:]
    /// Deliveries that may be attempted, in the order in which they became so.
    var ready = FIFO<ReadyDelivery>()
    /// The id above which pending deliveries have still to be looked at after a fold; nil when all are done.
    var startAfter: Int64?
    /// The most deliveries that may be pending, and the most dead letters.
    var backlog = Int.max
    var deadLetters = Int.max

    /// Returns the place of a delivery that is pending or dead; nil for any other.
    func find(_ id: Int64) -> UInt32? { pending.find(id, slots) ?? dead.find(id, slots) }

    /// Returns the position of the record that holds a delivery's event.
    func body(_ place: UInt32) -> Int64 {
        let slot = slots[place]
        return slot.isCarried ? bodies[Int(slot.id & (Self.bodyShards - 1))][slot.id] ?? slot.id : slot.id
    }

    mutating func setBody(_ place: UInt32, _ position: Int64) {
        let id = slots[place].id
        slots[place].isCarried = true
        bodies[Int(id & (Self.bodyShards - 1))][id] = position
    }

    /// Returns the instant at which a delivery was redriven, in wall milliseconds; nil for one that was not.
    func redrivenAt(_ place: UInt32) -> Int64? {
        slots[place].isRedriven ? redriveInstants[slots[place].id] : nil
    }

    /// Notes the instant at which a delivery was redriven, in wall milliseconds; nil for one that was not.
    mutating func setRedriven(_ place: UInt32, at instant: Int64?) {
        guard instant != nil || slots[place].isRedriven else { return }
        slots[place].isRedriven = instant != nil
        redriveInstants[slots[place].id] = instant
    }

    /// Adds a pending delivery to a ring whose newest is `tail`.
    mutating func append(_ id: Int64, owner: UInt32, tail: inout UInt32) {
        let place = slots.take(id)
        slots[place].owner = owner
        link(place, tail: &tail)
        pending.insert(place, slots)
    }

    /// Adds a pending delivery of a deleted timer.
    mutating func appendDetached(_ id: Int64, _ life: DeliveryLives.Key) {
        let place = slots.take(id)
        slots[place].owner = life.hash
        slots[place].next = lives.join(life)
        slots[place].isDetached = true
        detachedCount += 1
        pending.insert(place, slots)
    }

    /// Puts a delivery into a ring where its id belongs, but not before an oldest one that is in flight or waiting.
    private mutating func link(_ place: UInt32, tail: inout UInt32) {
        guard tail != 0 else {
            slots[place].next = place
            slots[place].count = 1
            tail = place
            return
        }
        let id = slots[place].id
        let head = slots[tail].next
        let count = slots[tail].count + 1
        let isNewest = slots[tail].id < id
        let keepsHead = slots[head].id < id || slots[head].state != .pending
        var before = isNewest || !keepsHead ? tail : head
        if !isNewest { while slots[slots[before].next].id < id { before = slots[before].next } }
        slots[place].next = slots[before].next
        slots[before].next = place
        slots[tail].count = 0
        if isNewest || before == tail && keepsHead { tail = place }
        slots[tail].count = count
    }

    /// Takes a delivery out of its ring.
    private mutating func unlink(_ place: UInt32, tail: inout UInt32) {
        let count = slots[tail].count - 1
        guard count > 0 else {
            tail = 0
            return
        }
        var before = tail
        while slots[before].next != place { before = slots[before].next }
        slots[before].next = slots[place].next
        if place == tail {
            slots[place].count = 0
            tail = before
        }
        slots[tail].count = count
    }

    /// Returns how many deliveries are in a ring.
    func count(tail: UInt32) -> Int { tail == 0 ? 0 : slots[tail].count }

    /// Removes a pending delivery; `tail` is the newest of its ring, 0 for a detached one.
    mutating func remove(_ place: UInt32, tail: inout UInt32) {
        takeOut(place, tail: &tail)
        release(place)
    }

    private mutating func takeOut(_ place: UInt32, tail: inout UInt32) {
        if slots[place].isDetached { detachedCount -= 1 } else { unlink(place, tail: &tail) }
        disarm(place)
        if !redrivenAt.isEmpty { redrivenAt[slots[place].id] = nil }
        pending.remove(slots[place].id, slots)
    }

    /// Removes all deliveries of a ring.
    mutating func removeAll(tail: inout UInt32) {
        while tail != 0 { remove(slots[tail].next, tail: &tail) }
    }

    /// Makes a pending delivery a dead letter, and removes the oldest one if there are too many.
    ///
    /// - Parameters:
    ///   - life: the life of its timer; nil for a delivery that is detached already.
    ///   - reason: the reason it is dead.
    ///   - due: the instant at which it is forgotten, on the elapsed clock, or on the wall clock while a log is
    ///     folded.
    mutating func moveToDead(
        _ place: UInt32, tail: inout UInt32, _ life: DeliveryLives.Key?, _ reason: EventReason, due: Int64
    ) {
        takeOut(place, tail: &tail)
        setRedriven(place, at: nil)
        slots[place].state = .dead
        slots[place].isDetached = true
        slots[place].reason = reason
        if let life {
            slots[place].owner = life.hash
            slots[place].next = lives.join(life)
        }
        slots[place].count = 0
        dead.insert(place, slots)
        arm(place, due: due)
        if dead.count > deadLetters, let oldest = dead.first { removeDead(oldest) }
    }

    /// Removes a dead letter.
    mutating func removeDead(_ place: UInt32) {
        disarm(place)
        dead.remove(slots[place].id, slots)
        release(place)
    }

    /// Makes a dead letter pending again: in the ring `tail` of the timer at `owner`, or detached if `owner` is nil.
    ///
    /// - Parameter instant: the instant of the redrive, in wall milliseconds.
    mutating func moveToPending(_ place: UInt32, owner: SlotIndex?, tail: inout UInt32, at instant: Int64?) {
        disarm(place)
        dead.remove(slots[place].id, slots)
        slots[place].state = .pending
        slots[place].attempts = 0
        slots[place].reason = .attempts
        slots[place].lastAttempt = nil
        setRedriven(place, at: instant)
        if let owner {
            lives.leave(slots[place].next)
            slots[place].isDetached = false
            slots[place].owner = owner
            link(place, tail: &tail)
        } else {
            detachedCount += 1
        }
        pending.insert(place, slots)
    }

    private mutating func release(_ place: UInt32) {
        let id = slots[place].id
        if slots[place].isCarried { bodies[Int(id & (Self.bodyShards - 1))][id] = nil }
        setRedriven(place, at: nil)
        if slots[place].isDetached { lives.leave(slots[place].next) }
        slots.release(place)
    }

    /// Whether due instants are on the elapsed clock and in the wheel; while a log is folded they are on the wall
    /// clock.
    var isArming = false

    /// Notes the due instant of a waiting or dead delivery.
    mutating func arm(_ place: UInt32, due: Int64) {
        slots[place].setDue(due)
        guard isArming else { return }
        wheel.insert(TimerWheel.Entry(due: due, slot: place, generation: DeliverySlots.generation(slots[place].id)))
    }

    /// Notes that an attempt at a pending or waiting delivery is under way, and counts it like one that begins now.
    /// The delivery becomes the oldest of its ring, before those that a fold put there.
    mutating func rejoin(_ place: UInt32, tail: inout UInt32) {
        let state = slots[place].state
        guard state != .inFlight, let next = DeliveryMachine.next(.rejoined, in: state) else { return }
        disarm(place)
        slots[place].state = next
        slots[place].attempts += 1
        guard !slots[place].isDetached, slots[tail].next != place else { return }
        unlink(place, tail: &tail)
        slots[place].next = slots[tail].next
        slots[tail].next = place
        slots[tail].count += 1
    }

    private mutating func disarm(_ place: UInt32) {
        let state = slots[place].state
        if isArming && (state == .waiting || state == .dead) { wheel.cancel() }
    }

    /// Puts every waiting and dead delivery into the wheel, once the whole log is folded.
    mutating func armAll(_ now: Now) {
        let elapsed = now.milliseconds(on: .continuous)
        wheel = TimerWheel(position: elapsed)
        isArming = true
        for index in [pending, dead] {
            var waiting: [UInt32] = []
            index.walk(after: .min, slots) { place in
                if slots[place].state == .waiting || slots[place].state == .dead { waiting.append(place) }
                return true
            }
            for place in waiting {
                // The calendar may have been far ahead when the instant was recorded.
                let longest = slots[place].state == .dead ? Self.deadLifetime : Self.longestWait
                arm(place, due: min(slots[place].due(near: now.wall) - now.wallOffset, elapsed + longest))
            }
        }
        lives.forgetEmpty()
        startAfter = pending.count > 0 ? .min : nil
    }
}

/// A delivery that is the next of its timer, or whose timer is deleted: it may be attempted once a record is durable.
struct ReadyDelivery: Sendable {
    /// The position of the event that is delivered.
    var id: Int64
    /// The position of the record that must be durable: the event, or the change that made the delivery the next; 0
    /// if everything is durable already.
    var restsOn: Int64
}
