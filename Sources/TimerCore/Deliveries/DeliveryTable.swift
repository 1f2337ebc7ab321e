/// Every delivery that is pending or dead.
///
/// A timer's pending ones are a ring in order of their ids; the timer's slot names the newest, whose `next` is the
/// oldest. Only the oldest is ever attempted, so that a timer's deliveries keep their order.
struct DeliveryTable: ~Copyable {
    /// Most pending ones of one timer.
    static let mostPerTimer = 1000
    /// How long a dead one is kept, in milliseconds: 7 days.
    static let deadLifetime: Int64 = 7 * 86_400_000
    /// No wait for an attempt is longer, in milliseconds: twice the longest `max` of a retry policy.
    private static let longestWait: Int64 = 14 * 86_400_000
    private static let bodyShards: Int64 = 256

    var slots = DeliverySlots()
    /// When waiting ones are attempted again and dead ones forgotten, on the elapsed clock.
    var wheel = TimerWheel(position: 0)
    private(set) var pending = DeliveryIndex()
    private(set) var dead = DeliveryIndex()
    /// How many pending ones belong to no timer any more.
    private(set) var detachedCount = 0
    /// The lives of timers that those outside of rings belong to.
    var lives = DeliveryLives()
    /// Positions of the records that hold the events of carried deliveries, by id.
    private var bodies = [[Int64: Int64]](repeating: [:], count: Int(DeliveryTable.bodyShards))
    /// When deliveries were redriven, wall milliseconds, by id: their age counts from then.
    private var redriveInstants: [Int64: Int64] = [:]
    /// Timers with pending deliveries whose definition was changed, each with the position of the record that says so:
    /// an attempt uses the new definition, so that none begins before that record is durable.
    var redefinedAt: [SlotIndex: Int64] = [:]
    /// Redriven deliveries with no attempt since, each with the position of the record that says so: an older entry of
    /// theirs in `ready` may remain, and no attempt begins before that record is durable.
    var redrivenAt: [Int64: Int64] = [:]
    /// Deliveries that may be attempted, in the order in which they became so.
    var ready = FIFO<ReadyDelivery>()
    /// Pending ones above this id have still to be looked at after a fold; nil when all are.
    var startAfter: Int64?
    /// Most that may be pending, and dead.
    var backlog = Int.max
    var deadLetters = Int.max

    /// The place of a delivery that is pending or dead.
    func find(_ id: Int64) -> UInt32? { pending.find(id, slots) ?? dead.find(id, slots) }

    /// Position of the record that holds a delivery's event.
    func body(_ place: UInt32) -> Int64 {
        let slot = slots[place]
        return slot.isCarried ? bodies[Int(slot.id & (Self.bodyShards - 1))][slot.id] ?? slot.id : slot.id
    }

    mutating func setBody(_ place: UInt32, _ position: Int64) {
        let id = slots[place].id
        slots[place].isCarried = true
        bodies[Int(id & (Self.bodyShards - 1))][id] = position
    }

    /// When a delivery was redriven, wall milliseconds; nil for one that was not.
    func redrivenAt(_ place: UInt32) -> Int64? {
        slots[place].isRedriven ? redriveInstants[slots[place].id] : nil
    }

    /// Notes when a delivery was redriven; nil for one that was not.
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

    /// Puts a delivery into a ring where its id belongs, but not before an oldest that was attempted already.
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

    /// How many are in a ring.
    func count(tail: UInt32) -> Int { tail == 0 ? 0 : slots[tail].count }

    /// Takes a pending delivery out for good; `tail` is its ring's, 0 for a detached one.
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

    /// Drops all of a ring.
    mutating func removeAll(tail: inout UInt32) {
        while tail != 0 { remove(slots[tail].next, tail: &tail) }
    }

    /// Makes a pending delivery a dead letter; the oldest goes where there are too many.
    ///
    /// - Parameters:
    ///   - life: of its timer; nil for one that is detached already.
    ///   - reason: why it is dead.
    ///   - due: when it is forgotten.
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

    /// Takes a dead letter out for good.
    mutating func removeDead(_ place: UInt32) {
        disarm(place)
        dead.remove(slots[place].id, slots)
        release(place)
    }

    /// Has a dead letter delivered anew, by the ring `tail` where `owner` names a timer's place, else detached.
    ///
    /// - Parameter instant: of the redrive, wall milliseconds.
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

    /// Whether instants are on the elapsed clock and in the wheel; while a log is folded they are on the wall clock.
    var isArming = false

    /// Notes when a waiting or dead delivery is due.
    mutating func arm(_ place: UInt32, due: Int64) {
        slots[place].setDue(due)
        guard isArming else { return }
        wheel.insert(TimerWheel.Entry(due: due, slot: place, generation: DeliverySlots.generation(slots[place].id)))
    }

    /// Notes that an attempt at a pending or waiting delivery is under way; it counts like one that was begun just now.
    /// It becomes the oldest of its ring, before those that a fold put there.
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
                // The calendar may have been far ahead when it was recorded.
                let longest = slots[place].state == .dead ? Self.deadLifetime : Self.longestWait
                arm(place, due: min(slots[place].due(near: now.wall) - now.wallOffset, elapsed + longest))
            }
        }
        lives.forgetEmpty()
        startAfter = pending.count > 0 ? .min : nil
    }
}
