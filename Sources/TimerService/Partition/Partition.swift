import Platform
import Synchronization
import TimerCore
import TimerLog

/// One log and what lives on it: the engine that changes its timers, the hub that shows its newest rows, and what the
/// committer has to do for it.
public final class Partition: @unchecked Sendable {
    // Unchecked: `tail` to `isFenced` are confined to the committer's thread.
    /// Its number, and how the volume is divided.
    let place: PartitionPlace
    /// Its number among the partitions of the volume.
    public var number: Int { place.number }
    /// Where its timers change.
    public let engine: Engine
    /// Its newest rows, for live streams.
    public let hub: EventHub
    /// Its log.
    let store: any LogStore
    /// What of its log is to go.
    let trim: LogTrim
    /// Rows on their way to disk.
    var tail: LogTail
    /// What to do where storage fails.
    var recovery = StorageRecovery()
    /// Monotonic nanoseconds at which the recovery goes on.
    var pausedUntil: Int64 = 0
    /// Whether the log is being folded anew, on another thread.
    var isFolding = false
    /// Whether another process was found to write the log.
    var isFenced = false
    /// Whether rows that wait for their time are to be written now.
    let isHurried = Atomic<Bool>(false)
    /// Whether an operator has accepted that the log has lost rows.
    let acceptsLoss = Atomic<Bool>(false)
    /// How often the log was found to have lost rows.
    let losses = Atomic<Int>(0)
    private let ended = Atomic<Bool>(false)
    /// Whether other processes may write the log too: see `LogVolume.isShared`.
    let isShared: Bool
    /// Threads that read the store, so that nobody closes it meanwhile.
    private let reading = Guarded(Reading())
    let secret: [UInt8]
    /// What the hashes of all its timers begin with.
    let hashPrefix: HashPrefix
    let report: @Sendable (ServiceEvent) -> Void
    let bell: CommitBell
    /// Position of the oldest event when the log was opened, or that of the first one to come.
    let oldestAtStart: Int64

    /// Takes a recovered log over.
    ///
    /// - Parameters:
    ///   - shared: by all partitions of the process.
    ///   - moved: called now and then on the way.
    init(
        _ log: consuming RecoveredLog, place: PartitionPlace = .only, configuration: EngineConfiguration,
        shared: SharedParts, isShared: Bool = false, moved: () -> Void = {},
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        self.place = place
        self.isShared = isShared
        bell = shared.bell
        self.report = report
        let (store, head, deletedThrough) = (log.store, log.head, log.deletedThrough)
        let (oldest, bytes) = (log.oldest, log.bytes)
        hashPrefix = log.hashPrefix
        engine = Engine(
            log.fold, place: place, configuration: configuration, shared: shared, moved: moved,
            branchedAt: head.branchedAt)
        hub = EventHub(head: head.last, among: place.layout.count)
        self.store = store
        secret = head.secret
        tail = LogTail(head)
        oldestAtStart = oldest ?? engine.nextPosition
        // A log that is whole never gave an id before its first: a client with an earlier one knows another log, and has
        // a gap. Of several partitions that is told by the first of all: see `PartitionMap.horizon`.
        let first = place.layout == .single ? oldestAtStart - 1 : 0
        trim = LogTrim(deletedThrough: deletedThrough > 0 ? deletedThrough : first, held: bytes)
    }

    /// Position up to which events are no longer kept.
    public var horizon: Int64 { trim.horizon }

    /// Position of the oldest event that may be kept.
    public var oldestKept: Int64 { max(horizon + 1, oldestAtStart) }

    // What the compactor asks of the committer.

    /// Asks for the deletion of rows up to `position`, of so many bytes; nothing live rests on them any more.
    func delete(through position: Int64, _ bytes: RowBytes) {
        trim.delete(through: position, bytes)
        trimSoon()
    }

    /// Asks that rows take the place of others.
    func replace(_ rows: [RowReplacement]) {
        trim.replace(rows)
        trimSoon()
    }

    /// A log that one process alone writes is trimmed between its appends, another one beside them.
    private func trimSoon() { if isShared { trimShared() } else { callCommitter() } }

    /// Has rows that wait for their time written at once.
    func hurry() {
        guard engine.showsEarly else { return }
        isHurried.store(true, ordering: .releasing)
        callCommitter()
    }

    /// Has the committer look at the partition.
    func callCommitter() {
        bell.list(number)
        bell.ring()
    }

    /// Throws where a timer is in a time zone that this system's data do not have.
    func checkZones() throws(StoreError) {
        guard let missing = engine.missingZone else { return }
        let name = String(decoding: missing, as: UTF8.self)
        throw StoreError(.unusable, "a timer is in the time zone `\(name)`, which this system's data do not have")
    }

    /// Whether the partition is another process's, or may be: nothing begins any more, and nothing more of it is written.
    var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// Ends it at once: what is not on disk is given up, and who waits for that is told that it is not known.
    func end() {
        ended.store(true, ordering: .releasing)
        engine.abandon()
        hub.notify()
    }

    // What keeps the store open.

    private struct Reading {
        var threads = 0
        var isOver = false
    }

    /// Runs `body`, which reads the store; the store is not closed meanwhile. Nil where it is closed, or about to be.
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
        reading.wait { $0.threads == 0 ? () : nil }
        store.close()
    }
}
