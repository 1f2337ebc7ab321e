import Platform
import TimerCore
import TimerLog

/// Tells one following process the records of partitions that this process owns: asks come in as bytes, and frames go out.
///
/// A frame is made when the transport has room and the follower has asked for one, of what memory holds then: nothing is kept
/// for a slow follower, which is told that rows are gone. One thread at a time calls `receive` and `next`; any thread the
/// rest.
public final class FeedServer: Sendable {
    /// A partition that is followed.
    private struct Followed {
        /// Position up to which the follower was told everything.
        var after: Int64
        /// Position up to which it wants to know that no further record comes.
        var promise: Int64 = 0
        /// Whether the follower was told something since it asked for the partition.
        var isConfirmed = false
        /// Position up to which the follower knows that events are no longer kept; nil where it was told nothing of it.
        var horizon: Int64?
        /// Whether the follower knows that the partition is not here.
        var isToldElsewhere = false
    }

    private struct State {
        var followed: [Int: Followed] = [:]
        /// Partitions of which there may be something to tell.
        var queue: FIFO<Int> = FIFO()
        /// The partitions in the queue.
        var queued: Set<Int> = []
        /// Frames that the follower has asked for.
        var credit = 0
        /// Whether the transport was called, and has not come yet.
        var isCalled = false
        var incoming = FrameBuffer(limit: FeedAsk.maximumBytes)

        /// Notes that there may be something to tell of a partition.
        mutating func enqueue(_ number: Int) {
            if followed[number] != nil, queued.insert(number).inserted { queue.append(number) }
        }

        /// Whether the transport is to be called now.
        mutating func call() -> Bool {
            guard credit > 0, !queue.isEmpty, !isCalled else { return false }
            isCalled = true
            return true
        }

        mutating func take(_ ask: FeedAsk) {
            switch ask {
            case .follow(let partition, let after):
                followed[partition] = Followed(after: after)
                enqueue(partition)
            case .leave(let partition): followed[partition] = nil
            case .promise(let partition, let through):
                guard let known = followed[partition], through > known.promise else { return }
                followed[partition]?.promise = through
                if through > known.after { enqueue(partition) }
            case .credit(let count): credit = min(credit + count, FeedAsk.mostCredit)
            }
        }
    }

    private let layout: PartitionLayout
    private let state = Guarded(State())
    private let find: @Sendable (Int) -> (any EventSource)?
    private let mayShow: @Sendable () -> Bool
    private let onReady: @Sendable () -> Void

    /// - Parameters:
    ///   - find: the partition with this number, where this process owns it.
    ///   - mayShow: whether this process may show what it has: its lease is valid.
    ///   - onReady: called when `next` may have something to send; not again until `next` was called.
    init(
        _ layout: PartitionLayout, find: @escaping @Sendable (Int) -> (any EventSource)?,
        mayShow: @escaping @Sendable () -> Bool, onReady: @escaping @Sendable () -> Void
    ) {
        self.layout = layout
        self.find = find
        self.mayShow = mayShow
        self.onReady = onReady
    }

    /// Takes bytes that the follower sent.
    ///
    /// - Throws: where they are no message that a follower sends; the connection is to be closed then.
    public func receive(_ bytes: [UInt8]) throws(FrameError) {
        let isReady = try state.withLock { state throws(FrameError) in
            state.incoming.add(bytes)
            while let message = try state.incoming.next() {
                for ask in try FeedAsk.decode(message, layout) { state.take(ask) }
            }
            return state.call()
        }
        if isReady { onReady() }
    }

    /// Notes that there may be something to tell of a partition.
    func look(at number: Int) {
        let isReady = state.withLock { state in
            state.enqueue(number)
            return state.call()
        }
        if isReady { onReady() }
    }

    /// Looks again for promises that had to wait for a partition's clock, and for what the lease held back. Called a few times
    /// a second.
    public func lookAgain() {
        let isReady = state.withLock { state in
            for number in state.followed.keys.sorted() {
                guard let followed = state.followed[number] else { continue }
                let isDeleted = followed.horizon.map { ($0 < find(number)?.horizon ?? 0) } ?? false
                if followed.promise > followed.after || isDeleted { state.enqueue(number) }
            }
            return state.call()
        }
        if isReady { onReady() }
    }

    /// The next frame to send, where there is room for it; nil where there is none for now. About 256 KiB, unless one row is
    /// longer.
    public func next() -> [UInt8]? {
        let mayTell = state.withLock { state in
            state.isCalled = false
            return state.credit > 0
        }
        // What the lease holds back is looked for again by `lookAgain`.
        guard mayTell, mayShow() else { return nil }
        var frame = FeedFrame([])
        var room = FeedFrame.targetBytes
        while room > 0, frame.facts.count < FeedFrame.mostFacts, let (number, followed) = nextQueued() {
            guard let fact = fact(of: number, followed, room) else { continue }
            frame.facts.append(fact.told)
            room -= fact.bytes
            state.withLock { state in
                if let through = fact.through { state.followed[number]?.after = through }
                if case .kept(_, let horizon, _) = fact.told {
                    state.followed[number]?.horizon = horizon
                } else {
                    state.followed[number]?.isConfirmed = fact.through != nil
                    state.followed[number]?.isToldElsewhere = fact.through == nil
                }
                if fact.goesOn { state.enqueue(number) }
            }
        }
        guard !frame.facts.isEmpty else { return nil }
        state.withLock { $0.credit -= 1 }
        return frame.encoded()
    }

    private func nextQueued() -> (number: Int, followed: Followed)? {
        state.withLock { state in
            while let number = state.queue.popFirst() {
                state.queued.remove(number)
                if let followed = state.followed[number] { return (number, followed) }
            }
            return nil
        }
    }

    /// A fact, and what it changes.
    private struct Told {
        var told: FeedFact
        var bytes: Int
        /// Position up to which the follower knows everything then; nil where it is told nothing of the kind.
        var through: Int64?
        /// Whether there is more to tell.
        var goesOn = false
    }

    /// What there is to tell of a partition; nil where that is nothing.
    private func fact(of number: Int, _ followed: Followed, _ room: Int) -> Told? {
        guard let source = find(number) else {
            return followed.isToldElsewhere ? nil : Told(told: .elsewhere(partition: number), bytes: 8, through: nil)
        }
        let horizon = source.horizon
        if followed.horizon ?? -1 < horizon {
            let told = FeedFact.kept(partition: number, horizon: horizon, oldest: source.oldestAtStart)
            return Told(told: told, bytes: 32, through: nil, goesOn: true)
        }
        // Before the look: every record up to the promise is seen then.
        let promised = followed.promise > followed.after ? source.promise(through: followed.promise) : 0
        var rows: [LogRow] = []
        var through = followed.after
        var bytes = 32
        while bytes < room, rows.count < FeedFrame.mostRows {
            switch source.hub.row(after: through) {
            case .row(let row) where row.data.count <= FeedFact.maximumRowBytes:
                rows.append(row)
                through = row.last
                bytes += FeedFact.rowHeadBytes + row.data.count
                continue
            case .none(let newest):
                through = max(through, newest, promised)
                guard through > followed.after || !followed.isConfirmed else { return nil }
                return Told(
                    told: .rows(partition: number, after: followed.after, through: through, rows), bytes: bytes,
                    through: through)
            case .row, .gone: break
            }
            guard rows.isEmpty else { break }
            let head = source.hub.durableHead
            return Told(told: .behind(partition: number, head: head), bytes: bytes, through: head, goesOn: true)
        }
        return Told(
            told: .rows(partition: number, after: followed.after, through: through, rows), bytes: bytes,
            through: through, goesOn: true)
    }
}
