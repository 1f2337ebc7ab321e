import Platform
import TimerCore
import TimerLog

/// The thread that makes changes durable: it takes the engine's batch, appends it, and lets go what waited.
///
/// The append under way is the batching window: whatever arrives meanwhile shares the next one. A failed append is not
/// a refusal: the log is folded anew, and what the disk holds decides.
final class Committer: @unchecked Sendable {
    // Unchecked: every `var` is guarded by engine.lock, but for `gathering`, which its own thread alone touches; `epoch` and
    // `logHead` change on that thread alone.
    private let engine: Engine
    private let store: any LogStore
    private let hub: EventHub
    private let secret: [UInt8]
    private let report: @Sendable (ServiceEvent) -> Void
    private var epoch: Int64
    private var logHead: Int64
    private var deleteThrough: Int64 = 0
    private var expiredThrough: Int64 = 0
    private var deletedThrough: Int64
    /// Whether a deletion failed; the next one asked for tries again.
    private var deletionFailed = false
    /// Bytes of the rows' data in the log, but for rows that are to be deleted.
    private var held: RowBytes
    /// Rows that are to take the place of others, and whether some are just doing so.
    private var replacements: [RowReplacement] = []
    private var replaces = false
    private var gathering = Gathering()
    /// Empty buffers for the next batch.
    private var spare = CommitWork()
    /// Bytes appended since the compactor was last told.
    private var grownBytes = 0
    /// Bytes appended since memory was last given back.
    private var bytesInHaste = 0
    private var onGrowth: @Sendable () -> Void = {}
    private var stopping = false

    /// A buffer that grew larger than this is given back.
    private static let bufferKept = 8 << 20
    /// Bytes of growth after which the compactor is told.
    private static let growthStep = 1 << 20
    /// After so many bytes, and then so many nanoseconds without any (set before `run`), what only haste needs is given
    /// back. Who comes in bursts would pay for fresh memory each time.
    private static let hasteBytes = 4 << 20
    var silence: Int64 = 5_000_000_000
    /// Pause between attempts while storage fails, in nanoseconds. Set before `run`.
    var retryPause: Int64 = 250_000_000

    init(
        _ engine: Engine, _ store: any LogStore, _ hub: EventHub, head: StoreHead, deletedThrough: Int64,
        bytes: RowBytes,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        self.engine = engine
        self.store = store
        self.hub = hub
        self.report = report
        self.deletedThrough = deletedThrough
        held = bytes
        secret = head.secret
        epoch = head.epoch
        logHead = head.last
    }

    /// Asks for the deletion of rows up to `position`; nothing live rests on them any more.
    ///
    /// - Parameters:
    ///   - bytes: of their data.
    func delete(through position: Int64, _ bytes: RowBytes) {
        engine.lock.withLock(.commit) {
            deleteThrough = max(deleteThrough, position)
            held -= bytes
            deletionFailed = false
            engine.lock.signal()
        }
    }

    /// Asks that rows take the place of others.
    func replace(_ rows: [RowReplacement]) {
        engine.lock.withLock(.commit) {
            replacements += rows
            engine.lock.signal()
        }
    }

    /// Whether rows are still to take the place of others.
    var isReplacing: Bool { engine.lock.withLock(.commit) { replaces || !replacements.isEmpty } }

    /// Position up to which events are no longer kept, whether their rows are gone yet or not.
    var horizon: Int64 { engine.lock.withLock(.commit) { max(expiredThrough, deletedThrough) } }

    /// Notes that events up to `position` are no longer kept.
    func expire(through position: Int64) {
        engine.lock.withLock(.commit) { expiredThrough = max(expiredThrough, position) }
    }

    /// Bytes of the rows' data in the log, but for rows that are to be deleted.
    var bytes: RowBytes { engine.lock.withLock(.commit) { held } }

    /// Calls `growth` each time the log has grown by a step. Set before `run`.
    func observeGrowth(_ growth: @escaping @Sendable () -> Void) { onGrowth = growth }

    /// Ends `run` once everything is committed, or at once while storage fails.
    func stop() {
        engine.lock.withLock(.commit) {
            stopping = true
            engine.lock.signal()
        }
    }

    /// Commits until `stop`. The body of the committer's thread.
    func run() {
        while step() {
            if case .interval(let nanoseconds) = engine.configuration.durability { pause(nanoseconds) }
        }
    }

    /// Waits for work and does it. Returns false when there will be none any more.
    func step() -> Bool {
        guard let work = next() else { return false }
        guard append(work.rows(after: logHead, epoch: epoch)) else { return false }
        if let through = work.deletion {
            guard deleteRows(through) else { return false }
        }
        guard replaceRows(work.replacements) else { return false }
        keepBuffers(work)
        return true
    }

    /// Whether a step would find something to do. Called under the lock.
    var hasWork: Bool { !engine.batch.isEmpty || wantsDeletion || !replacements.isEmpty }

    /// Has the next batch written into the memory of this one, which is on disk: fresh memory costs its zeroing.
    private func keepBuffers(_ work: consuming CommitWork) {
        var records = work.records
        var kicks = work.kicks
        work = CommitWork()
        guard records.capacity <= Self.bufferKept, kicks.capacity <= Self.bufferKept else { return }
        records.removeAll(keepingCapacity: true)
        kicks.removeAll(keepingCapacity: true)
        spare = CommitWork(records: records, kicks: kicks)
    }

    /// Waits for work; nil when there will be none. A deletion goes along with a batch, else steady work would put it
    /// off for ever.
    private func next() -> CommitWork? {
        engine.lock.withLock(.commit) {
            while !hasWork && !stopping { rest() }
            gather()
            var work = CommitWork()
            if !engine.batch.isEmpty {
                // Before the batch is taken: the reading follows a step of the calendar.
                let base = engine.timeBase()
                engine.lastBase = base.now.elapsed
                swap(&work, &spare)
                swap(&work.records, &engine.batch)
                work.base = base
                work.first = engine.batchFirst
                swap(&work.kicks, &engine.kicks)
                work.isTickOnly = engine.isTickOnly
                work.firstKick = engine.placeKicks()
            }
            if wantsDeletion && !stopping { work.deletion = deleteThrough }
            if !stopping { swap(&work.replacements, &replacements) }
            replaces = !work.replacements.isEmpty
            return work.base == nil && work.deletion == nil && work.replacements.isEmpty ? nil : work
        }
    }

    /// Sleeps until there may be work. In a silence the buffers go, most of the newest rows, and what the allocator keeps.
    private func rest() {
        guard bytesInHaste >= Self.hasteBytes else { return engine.lock.wait() }
        guard !engine.lock.wait(nanoseconds: silence), !hasWork else { return }
        bytesInHaste = 0
        spare = CommitWork()
        (engine.batch, engine.kicks) = ([], [])
        engine.lock.unlock()
        hub.shrink()
        ProcessUsage.trimMemory()
        engine.lock.lock(.commit)
    }

    /// Lets those who were answered last join the batch with what they ask for next, where that is worth its time.
    private func gather() {
        guard case .commit = engine.configuration.durability, !engine.batch.isEmpty else { return }
        engine.awaited = gathering.expected
        while engine.gathered < gathering.expected && !stopping {
            let left = gathering.deadline - Clocks.monotonic()
            if left <= 0 { break }
            _ = engine.lock.wait(nanoseconds: left)
        }
        engine.awaited = 0
        gathering.took(engine.gathered)
        engine.gathered = 0
    }

    private var wantsDeletion: Bool { deleteThrough > deletedThrough && !deletionFailed }

    /// Lets changes gather; ends early when there are too many.
    private func pause(_ nanoseconds: Int64) {
        engine.lock.withLock(.commit) {
            engine.lock.wait(nanoseconds) { !stopping && engine.waitingBytes <= EngineConfiguration.maximumBatchBytes }
        }
    }

    /// Makes `rows` durable. Returns false when the service stops before storage works again.
    private func append(_ rows: [LogRow]) -> Bool {
        guard let last = rows.last?.last, let first = rows.first?.first else { return true }
        let started = Clocks.monotonic()
        let outcome = store.append(rows, expecting: logHead, epoch: epoch)
        guard outcome == .durable else { return recover(outcome, rows) }
        let ended = Clocks.monotonic()
        gathering.appended(from: started, to: ended)
        let seconds = Double(ended - started) / 1e9
        engine.lock.withLock(.commit) {
            logHead = last
            let grown = rows.reduce(0) { $0 + $1.data.count }
            held += RowBytes(rows)
            grownBytes += grown
            bytesInHaste += grown
            engine.counters.commitSeconds.observe(seconds)
            engine.counters.commitRecords.observe(Double(last - first + 1))
        }
        hub.publish(rows)
        engine.setDurable(last)
        hub.notify()
        if grownBytes >= Self.growthStep {
            grownBytes = 0
            onGrowth()
        }
        return true
    }

    /// Finds out what the disk holds, begins anew from there, and waits until it takes writes again.
    ///
    /// - Returns: false when the service stops meanwhile. Nothing may be appended then: what was recorded since rests
    ///   on rows that may be missing.
    private func recover(_ outcome: AppendOutcome, _ rows: [LogRow]) -> Bool {
        engine.lock.withLock(.commit) { engine.storageFails = true }
        report(.appendFailed(outcome))
        var isKnown = false
        if case .absent = outcome { isKnown = true } else { showDurablePart(rows) }
        while !refold(reopening: !isKnown, rows) {
            guard pauseUnlessStopping() else { return false }
        }
        hub.notify()
        while !probe() {
            guard pauseUnlessStopping() else { return false }
        }
        report(.storageRecovered)
        hub.notify()
        engine.alarm.ring()
        return true
    }

    /// Until it is known what became of `rows`, reads show what was surely on disk before them.
    private func showDurablePart(_ rows: [LogRow]) {
        var fold = emptyFold()
        do throws(StoreError) { try Self.fold(&fold, store, through: logHead) } catch {
            return report(.storageStillFailing(error))
        }
        var state = engine.state(of: fold)
        engine.lock.withLock(.restart) { engine.restart(&state, keeping: rows.last?.last ?? logHead) }
        hub.notify()
    }

    private func emptyFold() -> LogFold {
        LogFold(
            secret: secret, maximumTimers: engine.configuration.maximumTimers, zones: engine.configuration.zones,
            goingThrough: engine.lock.withLock(.commit) { deleteThrough })
    }

    private func pauseUnlessStopping() -> Bool {
        engine.lock.withLock(.commit) {
            // Every reader signals while the batch is not empty.
            engine.lock.wait(retryPause) { !stopping }
            return !stopping
        }
    }

    private func refold(reopening: Bool, _ rows: [LogRow]) -> Bool {
        do {
            if reopening {
                let head = try store.open()
                engine.lock.withLock(.commit) { epoch = head.epoch }
            }
            var fold = emptyFold()
            try Self.fold(&fold, store)
            let bytes = fold.bytes
            let hasLanded = try isInLog(rows.first)
            var state = engine.state(of: fold)
            // What landed after all is shown like any commit.
            if hasLanded { hub.publish(rows) }
            // Rows of another writer are read from the store.
            hub.reset(head: state.head)
            engine.lock.withLock(.restart) {
                let kept = hasLanded ? rows.last?.last ?? logHead : logHead
                logHead = state.head
                held = bytes
                engine.restart(&state, keeping: kept)
            }
            return true
        } catch {
            report(.storageStillFailing(error))
            return false
        }
    }

    /// Whether the log holds `row`; the rows of one append are there together or not at all.
    private func isInLog(_ row: LogRow?) throws(StoreError) -> Bool {
        guard let row else { return false }
        return try store.makeReader().row(holding: row.first) == row
    }

    /// Writes a record that says nothing new; when it lands, changes are taken again.
    private func probe() -> Bool {
        let rows = engine.lock.withLock(.commit) {
            let base = engine.timeBase()
            let head = engine.head
            engine.recordProbe()
            // Nobody is to wait for this record: reads go on meanwhile.
            engine.head = head
            var records: [UInt8] = []
            swap(&records, &engine.batch)
            return BatchRows.make(
                records: records, first: engine.batchFirst, previous: logHead, epoch: epoch, base: base)
        }
        guard let last = rows.last?.last else { return false }
        switch store.append(rows, expecting: logHead, epoch: epoch) {
        case .durable:
            hub.publish(rows)
            engine.lock.withLock(.commit) {
                logHead = last
                held += RowBytes(rows)
                engine.head = last
                engine.setDurable(last)
                engine.storageFails = false
            }
            return true
        case .absent:
            return false
        case .unknown, .fenced:
            // What the disk holds must be found out again before the next attempt.
            while !refold(reopening: true, rows) {
                guard pauseUnlessStopping() else { return false }
            }
            return false
        }
    }

    /// Deletes a bounded number of rows. Returns false when the service stops before storage works again.
    private func deleteRows(_ through: Int64) -> Bool {
        do {
            let isOver = try store.delete(upTo: through) == 0
            engine.lock.withLock(.commit) { if isOver { deletedThrough = max(deletedThrough, through) } }
            return true
        } catch {
            report(.storageStillFailing(error))
            engine.lock.withLock(.commit) { deletionFailed = true }
            return reopen() || recover(.unknown(error), [])
        }
    }

    /// Puts rows in the place of others. Returns false when the service stops before storage works again.
    private func replaceRows(_ replacements: [RowReplacement]) -> Bool {
        if replacements.isEmpty { return true }
        defer { engine.lock.withLock(.commit) { replaces = false } }
        do {
            try store.replace(with: replacements.map(\.row))
            engine.lock.withLock(.commit) {
                for replacement in replacements {
                    held -= replacement.replaced
                    held.add(replacement.row)
                }
            }
            return true
        } catch {
            // The rows stay as they are, which is but larger.
            report(.storageStillFailing(error))
            return reopen() || recover(.unknown(error), [])
        }
    }

    /// Opens the store anew, as it wants to be after a failed deletion. Returns false when that fails, or finds other
    /// rows than were left.
    private func reopen() -> Bool {
        do {
            let head = try store.open()
            return head.last == logHead && head.epoch == epoch
        } catch {
            report(.storageStillFailing(error))
            return false
        }
    }
}
