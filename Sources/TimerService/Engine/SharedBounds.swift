import Synchronization

/// The bounds of a process, which its engines share: how much of each all of them hold together. Any thread.
///
/// An engine notes what it holds when it gives its lock back, so all together may be above a bound by what one hold of each
/// engine's lock adds; timers are counted as they are made, so their bound is exact. With one partition nothing is noted:
/// the engine's own numbers are all there is.
final class SharedBounds: Sendable {
    /// Whether there may be several engines.
    let isShared: Bool
    private let partitions: Int
    private let maximumTimers: Int
    private let maximumKeys: Int
    private let maximumAnswerBytes: Int
    private let maximumPending: Int
    private let maximumDead: Int
    private let waitingBytes = Atomic<Int>(0)
    private let timers = Atomic<Int>(0)
    private let keys = Atomic<Int>(0)
    private let answerBytes = Atomic<Int>(0)
    private let pending = Atomic<Int>(0)
    private let dead = Atomic<Int>(0)

    /// - Parameter partitions: how many the volume has.
    init(_ configuration: EngineConfiguration, partitions: Int) {
        isShared = partitions > 1
        self.partitions = partitions
        maximumTimers = configuration.maximumTimers
        maximumKeys = configuration.maximumIdempotencyKeys
        maximumAnswerBytes = configuration.maximumIdempotencyBytes
        maximumPending = configuration.deliveries.backlog
        maximumDead = configuration.deliveries.deadLetters
    }

    /// What one engine holds, as it was noted last. Guarded by the engine's lock.
    struct Share {
        var waitingBytes = 0
        var timers = 0
        var keys = 0
        var answerBytes = 0
        /// Deliveries that are pending, and dead letters.
        var pending = 0
        var dead = 0
    }

    /// Notes that an engine which held `old` holds `new`.
    func note(_ new: Share, before old: Share) {
        Self.add(new.waitingBytes - old.waitingBytes, to: waitingBytes)
        Self.add(new.timers - old.timers, to: timers)
        Self.add(new.keys - old.keys, to: keys)
        Self.add(new.answerBytes - old.answerBytes, to: answerBytes)
        Self.add(new.pending - old.pending, to: pending)
        Self.add(new.dead - old.dead, to: dead)
    }

    private static func add(_ difference: Int, to sum: borrowing Atomic<Int>) {
        if difference != 0 { sum.add(difference, ordering: .relaxed) }
    }

    /// Bytes of records of the other engines that wait for the disk.
    func waitingElsewhere(than share: Share) -> Int { waitingBytes.load(ordering: .relaxed) - share.waitingBytes }

    /// Counts a timer that is about to be made in `share`. Returns whether there may be one more.
    func takeTimer(_ share: inout Share) -> Bool {
        guard timers.add(1, ordering: .relaxed).newValue <= maximumTimers else {
            timers.subtract(1, ordering: .relaxed)
            return false
        }
        share.timers += 1
        return true
    }

    /// How many keys, and bytes of their answers, the engine with `share` may keep: what the others leave, and never less
    /// than an equal part.
    func keyBounds(of share: Share) -> (keys: Int, bytes: Int) {
        (
            part(maximumKeys, keys.load(ordering: .relaxed) - share.keys),
            part(maximumAnswerBytes, answerBytes.load(ordering: .relaxed) - share.answerBytes)
        )
    }

    /// The same of deliveries that are pending, and of dead letters.
    func deliveryBounds(of share: Share) -> (pending: Int, dead: Int) {
        (
            part(maximumPending, pending.load(ordering: .relaxed) - share.pending),
            part(maximumDead, dead.load(ordering: .relaxed) - share.dead)
        )
    }

    private func part(_ maximum: Int, _ others: Int) -> Int { max(maximum / partitions, maximum - others) }
}
