import TimerCore

/// An event that a webhook is owed, as the contract has it.
struct ModelDelivery: CustomStringConvertible {
    enum Phase: Equatable {
        /// The delivery may be attempted from an instant of the elapsed clock on, in milliseconds.
        case pending(from: Int64)
        /// An attempt is under way.
        case underWay
        /// The delivery is out of attempts, or was one too many, and is kept until that instant of the elapsed clock,
        /// in milliseconds.
        case dead(until: Int64)
    }

    /// Position of the event.
    let id: Int64
    /// The timer's id, and the timer's number among those that had this id one after another.
    let timer: String
    let life: Int
    /// The content that the receiver must get: see `body`.
    let body: [UInt8]
    var phase = Phase.pending(from: .min)
    /// The number of attempts that ended.
    var attempts = 0
    /// The instant of the next attempt on the calendar, which is what a log keeps; 0 where it may go at once.
    var retryAt: Int64 = 0
    /// The instant of the delivery's death on the calendar, the reason, and the last status.
    var diedAt: Int64 = 0
    var reason = EventReason.none
    var status = 0
    /// Whether a client redrove the delivery, so that it may come after later ones.
    var isRedriven = false

    /// The milliseconds from the elapsed clock to the calendar when the delivery was last planned.
    var wallOffset: Int64 = 0
    /// Whether a log was folded while the calendar was set differently, so that the due instant is unknown.
    var isAdrift = false

    var description: String {
        let late = isRedriven ? ", redriven" : ""
        return "delivery \(id) of \(timer) (\(life)), \(phase), \(attempts) attempts\(late)"
    }

    var isDead: Bool {
        if case .dead = phase { return true }
        return false
    }

    /// The content that a receiver of an event must get.
    static func body(_ position: Int64, _ type: EventType?, _ progress: TimerProgress, _ prefix: [UInt8]) -> [UInt8] {
        Array("\(position) \(type.map { "\($0.name)" } ?? "") \(progress.withoutEdition) \(prefix)".utf8)
    }
}

/// The deliveries that webhooks are owed.
extension Model {
    /// The most deliveries that may be pending, and the most dead ones that are kept, in a simulated server.
    static let backlog = 40
    static let deadLetters = 10
    /// The milliseconds for which a dead letter is kept.
    static let deadLifetime: Int64 = 7 * 86_400_000
    /// The longest wait of an attempt in milliseconds, whatever a calendar says.
    static let longestWait: Int64 = 14 * 86_400_000

    /// The pending deliveries of the timer `id`, oldest first.
    func pending(of id: String) -> [ModelDelivery] {
        deliveries.values.filter { $0.timer == id && !$0.isDead }.sorted { $0.id < $1.id }
    }

    var pendingCount: Int { deliveries.values.count { !$0.isDead } }

    /// Whether the webhook of the timer `id` takes deliveries.
    func takesDeliveries(_ id: String) -> Bool {
        timers[id].map { !$0.progress.flags.contains(.webhookStopped) && $0.webhook != nil } ?? false
    }

    /// The deliveries of which one must die when there are too many: up to the first that is surely not under way.
    func surplus() -> [Int64] {
        guard pendingCount > Self.backlog else { return [] }
        var found: [Int64] = []
        for delivery in deliveries.values.sorted(by: { $0.id < $1.id }) {
            guard case .pending = delivery.phase else { continue }
            found.append(delivery.id)
            if !lateResults.contains(delivery.id) { break }
        }
        return found
    }

    mutating func dropPending(of id: String) {
        for delivery in pending(of: id) { deliveries[delivery.id] = nil }
    }

    mutating func bury(_ id: Int64, _ outcome: DeliveryOutcome, _ now: Now) {
        buried.insert(id)
        deliveries[id]?.phase = .dead(until: now.wall + Self.deadLifetime - now.wallOffset)
        deliveries[id]?.diedAt = now.wall
        deliveries[id]?.isAdrift = false
        deliveries[id]?.wallOffset = now.wallOffset
        deliveries[id]?.attempts = outcome.attempt
        deliveries[id]?.reason = outcome.reason
        // A delivery that died for lack of room was not attempted once more.
        if outcome.reason != .backlog { deliveries[id]?.status = outcome.status }
    }

    /// Ends an attempt with `outcome`.
    mutating func settle(_ outcome: DeliveryOutcome, _ now: Now) {
        let id = outcome.delivery
        guard let timer = deliveries[id]?.timer else { return }
        switch (outcome.type, outcome.reason) {
        case (.deliveryFailed, _):
            let wait = outcome.retryAt - now.ceiling(on: .wall)
            deliveries[id]?.isAdrift = false
            deliveries[id]?.wallOffset = now.wallOffset
            deliveries[id]?.phase = .pending(from: now.ceiling(on: .continuous) + wait)
            deliveries[id]?.retryAt = outcome.retryAt
            deliveries[id]?.status = outcome.status
            deliveries[id]?.attempts = outcome.attempt
        case (.deliveryDead, .gone):
            dropPending(of: timer)
            timers[timer]?.progress.flags.insert(.webhookStopped)
        case (.deliveryDead, _): bury(id, outcome, now)
        default: deliveries[id] = nil
        }
    }

    mutating func redrive(_ id: Int64) {
        deliveries[id]?.phase = .pending(from: .min)
        deliveries[id]?.attempts = 0
        deliveries[id]?.retryAt = 0
        deliveries[id]?.reason = .none
        deliveries[id]?.status = 0
        deliveries[id]?.isRedriven = true
        deliveries[id]?.isAdrift = false
    }

    /// Restores the deliveries as from a log, which holds no attempts under way, and waits by the calendar.
    ///
    /// - Parameter underWay: the attempts that the process goes on with.
    mutating func foldDeliveries(underWay: Set<Int64>, _ now: Now) {
        lateResults = underWay
        let elapsed = now.milliseconds(on: .continuous)
        for (id, delivery) in deliveries {
            let due = delivery.isDead ? delivery.diedAt + Self.deadLifetime : delivery.retryAt
            let longest = delivery.isDead ? Self.deadLifetime : Self.longestWait
            let instant = due == 0 ? .min : min(due - now.wallOffset, elapsed + longest)
            // A log keeps 41 bits of an instant; one that is farther away than 34 years may be read as another.
            let isFar = abs(due - now.wall) >= 1 << 40
            deliveries[id]?.isAdrift = due != 0 && (isFar || delivery.wallOffset != now.wallOffset)
            deliveries[id]?.phase = delivery.isDead ? .dead(until: instant) : .pending(from: instant)
        }
    }
}
