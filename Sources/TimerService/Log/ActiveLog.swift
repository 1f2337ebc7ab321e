import Platform
import Synchronization
import TimerCore
import TimerLog

/// The log that this process writes, with the engine that changes its timers, the hub that shows its newest rows,
/// and what the committer has to do for it.
public final class ActiveLog: @unchecked Sendable {
    // Unchecked: `tail` to `isFenced` are touched by the thread alone that works as the committer.
    /// The engine that changes the log's timers.
    public let engine: Engine
    /// The hub of the log's newest rows, for live streams.
    public let hub: EventHub
    let store: any LogStore
    /// The rows that are to be deleted or replaced.
    let trim: LogTrim
    /// The rows on their way to disk.
    var tail: LogTail
    /// The state of the recovery where storage fails.
    var recovery = StorageRecovery()
    /// Monotonic nanoseconds at which the recovery goes on.
    var pausedUntil: Int64 = 0
    /// The fold that is under way, on another thread.
    var refold: Refold?
    /// Whether another process was found to write the log.
    var isFenced = false
    /// Whether rows that wait for their time are to be written now.
    let isHurried = Atomic<Bool>(false)
    /// The rows that the storage has lost, in this log or an earlier one of the process.
    let losses: LossRegister
    private let ended = Atomic<Bool>(false)
    /// The threads that read the store, so that nobody closes it meanwhile.
    private let reading = Guarded(Reading())
    let secret: [UInt8]
    let report: @Sendable (ServiceEvent) -> Void
    private let bell: CommitBell
    /// Position of the oldest event when the log was opened, or that of the first one to come.
    private let oldestAtStart: Int64

    /// Makes the log of a recovered one.
    ///
    /// - Parameter moved: called now and then on the way.
    init(
        _ log: consuming RecoveredLog, configuration: EngineConfiguration, shared: SharedParts,
        moved: () -> Void = {}, report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        (bell, losses) = (shared.bell, shared.losses)
        self.report = report
        let (store, head, deletedThrough) = (log.store, log.head, log.deletedThrough)
        let (oldest, bytes) = (log.oldest, log.bytes)
        let (answered, recent, lost) = (log.answered, log.recent, log.lost)
        engine = Engine(
            log.fold, answered, isShared: store.isShared, configuration: configuration, shared: shared, moved: moved,
            branchedAt: head.branchedAt, lost: lost)
        hub = EventHub(head: head.last, recent)
        self.store = store
        secret = head.secret
        tail = LogTail(head)
        oldestAtStart = oldest ?? engine.nextPosition
        // A log from which nothing was deleted never gave an id before its first: a client with an earlier one has
        // it from another log, and has a gap.
        trim = LogTrim(
            deletedThrough: deletedThrough > 0 ? deletedThrough : oldestAtStart - 1, held: bytes, through: head.last)
    }

    /// Whether other processes may write the log too: see `LogStore.isShared`.
    var isShared: Bool { store.isShared }

    /// Position up to which events are no longer kept.
    public var horizon: Int64 { trim.horizon }

    /// Position of the oldest event that may be kept.
    public var oldestKept: Int64 { max(horizon + 1, oldestAtStart) }

    // The requests of the compactor to the committer.

    /// Asks for the deletion of rows up to `position`, of so many bytes; nothing live rests on them any more.
    func delete(through position: Int64, _ bytes: RowBytes) {
        trim.delete(through: position, bytes)
        trimSoon()
    }

    /// Asks that each of `rows` replace the rows that it spans.
    func replace(_ rows: [RowReplacement]) {
        trim.replace(rows)
        trimSoon()
    }

    /// Starts the work asked for: between appends where this process alone writes the log, else beside them, at
    /// once.
    private func trimSoon() { if isShared { trimShared() } else { callCommitter() } }

    /// Makes the committer write rows at once that wait for their time.
    func hurry() {
        guard engine.showsEarly else { return }
        isHurried.store(true, ordering: .releasing)
        callCommitter()
    }

    /// Wakes the committer, so that it looks at the log.
    func callCommitter() {
        bell.note()
        bell.ring()
    }

    /// Notes that so many requests are in a batch that was taken.
    func took(_ requests: Int) { bell.took(requests) }

    /// Throws where a timer is in a time zone that this system's data do not have.
    func checkZones() throws(StoreError) {
        guard let missing = engine.missingZone else { return }
        let name = String(decoding: missing, as: UTF8.self)
        throw StoreError(.unusable, "a timer is in the time zone `\(name)`, which this system's data do not have")
    }

    /// Whether the log is another process's, or may be: nothing begins any more, and this process writes nothing
    /// more of it.
    var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// Ends the log at once: what is not on disk is dropped, and the answers that wait for it say that its
    /// outcome is not known.
    func end() {
        ended.store(true, ordering: .releasing)
        engine.abandon()
        hub.notify()
    }

    // The reads that keep the store open.

    private struct Reading {
        var threads = 0
        var isOver = false
    }

    /// Runs `body`, which reads the store; the store is not closed meanwhile. Returns nil where it is closed, or
    /// about to be.
    func whileOpen<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result? {
        let mayRead = reading.withLock { reading in
            if !reading.isOver { reading.threads += 1 }
            return !reading.isOver
        }
        guard mayRead else { return nil }
        defer { reading.update { $0.threads -= 1 } }
        return try body()
    }

    /// Closes the store once nobody reads it.
    func close() {
        reading.withLock { $0.isOver = true }
        store.awaitReads(in: reading) { $0.threads == 0 }
        store.close()
    }
}
