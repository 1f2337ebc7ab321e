import Platform
import TimerCore
import TimerLog

/// Follows partitions at the process that owns them, over one connection: frames come in as bytes, and asks go out.
///
/// After the connection is lost, another link goes on where this one ended. One thread at a time calls `receive` and `next`;
/// any thread the rest.
public final class FeedLink: Sendable {
    private struct State {
        /// What is followed here.
        var followed: [Int: RemotePartition] = [:]
        /// What is to be asked, by partition; nil: to leave.
        var follows: [Int: Int64?] = [:]
        var promises: [Int: Int64] = [:]
        /// Behind which position partitions were asked for, until the owner tells what comes there: what it sent before that, for
        /// what was asked of the partition earlier, may lie further on.
        var awaited: [Int: Int64] = [:]
        /// Frames to ask for.
        var credit = FeedLink.framesUnderWay
        /// Whether the transport was called, and has not come yet.
        var isCalled = false
        var isOver = false
        var incoming = FrameBuffer(limit: FeedFrame.maximumBytes)

        var hasAsks: Bool { credit > 0 || !follows.isEmpty || !promises.isEmpty }

        /// The partition that a fact tells something of; nil where it is an answer to something asked earlier.
        mutating func receiver(of fact: FeedFact) -> RemotePartition? {
            guard let remote = followed[fact.partition] else { return nil }
            guard case .rows(let number, let after, _, _) = fact, let awaited = awaited[number] else { return remote }
            if after == awaited { self.awaited[number] = nil }
            return after <= remote.known ? remote : nil
        }

        /// Whether the transport is to be called now.
        mutating func call() -> Bool {
            guard hasAsks, !isCalled, !isOver else { return false }
            isCalled = true
            return true
        }
    }

    /// Frames that the owner may have sent and that are not taken yet.
    private static let framesUnderWay = 4

    private let remotes: RemotePartitions
    private let state = Guarded(State())
    private let onReady: @Sendable () -> Void

    /// A link that follows nothing yet.
    ///
    /// - Parameters:
    ///   - remotes: what it tells of.
    ///   - onReady: called by any thread when `next` may have something to send; not again until `next` was called. It does not
    ///     call the link itself.
    public init(_ remotes: RemotePartitions, onReady: @escaping @Sendable () -> Void) {
        self.remotes = remotes
        self.onReady = onReady
    }

    /// Follows the partitions with these numbers from now on, and no others: those that the other process owns, as far as
    /// is known. To be called again whenever that, or what this process owns, has changed.
    public func follow(_ numbers: some Sequence<Int>) {
        var wanted: [Int: RemotePartition] = [:]
        for number in numbers { if let remote = remotes[number] { wanted[number] = remote } }
        let (known, isOver) = state.withLock { ($0.followed, $0.isOver) }
        if isOver { return }
        let new = wanted.filter { known[$0.key] !== $0.value }
        let places = new.mapValues { $0.attach(self) }
        state.withLock { state in
            for number in state.followed.keys where wanted[number] == nil { state.follows[number] = .some(nil) }
            state.followed = wanted
            for (number, after) in places {
                state.follows[number] = after
                state.awaited[number] = after
            }
        }
        // What is asked for from now on comes here; what was asked for before is asked for again.
        for (number, remote) in new { ask(number, through: remote.wanted) }
        let isReady = state.withLock { $0.call() }
        if isReady { onReady() }
    }

    /// Ends it: the connection is lost. Nothing that comes later is taken.
    public func end() {
        state.withLock { state in
            state.isOver = true
            (state.followed, state.follows, state.promises, state.awaited) = ([:], [:], [:], [:])
        }
    }

    /// Asks for a promise.
    func ask(_ number: Int, through position: Int64) {
        let isReady = state.withLock { state in
            guard let remote = state.followed[number], position > remote.known else { return false }
            state.promises[number] = max(state.promises[number] ?? 0, position)
            return state.call()
        }
        if isReady { onReady() }
    }

    /// Takes bytes that the owner sent. Streams are shown what they tell.
    ///
    /// - Throws: where they are nothing that an owner sends; the connection is to be closed then.
    public func receive(_ bytes: [UInt8]) throws(FrameError) {
        state.withLock { state in if !state.isOver { state.incoming.add(bytes) } }
        var frames = 0
        while let frame = try nextFrame() {
            for fact in frame.facts {
                if let remote = state.withLock({ $0.receiver(of: fact) }) { try remote.take(fact) }
            }
            frames += 1
        }
        guard frames > 0 else { return }
        let isReady = state.withLock { state in
            state.credit += frames
            return state.call()
        }
        if isReady { onReady() }
    }

    private func nextFrame() throws(FrameError) -> FeedFrame? {
        try state.withLock { state throws(FrameError) in
            guard !state.isOver, let message = try state.incoming.next() else { return nil }
            return try FeedFrame(message, remotes.layout)
        }
    }

    /// The next message to send, where there is room for it; nil where there is none for now.
    public func next() -> [UInt8]? {
        let asks = state.withLock { state -> [FeedAsk] in
            state.isCalled = false
            guard !state.isOver else { return [] }
            var asks: [FeedAsk] = []
            for (number, after) in state.follows.sorted(by: { $0.key < $1.key }) {
                asks.append(after.map { .follow(partition: number, after: $0) } ?? .leave(partition: number))
            }
            for (number, through) in state.promises.sorted(by: { $0.key < $1.key }) {
                asks.append(.promise(partition: number, through: through))
            }
            (state.follows, state.promises) = ([:], [:])
            if state.credit > 0 {
                asks.append(.credit(min(state.credit, FeedAsk.mostCredit)))
                state.credit = 0
            }
            return asks
        }
        return asks.isEmpty ? nil : FeedAsk.encode(asks)
    }
}
