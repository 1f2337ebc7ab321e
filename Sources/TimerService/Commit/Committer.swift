import Platform
import TimerCore
import TimerLog

/// The thread that makes changes durable: it takes the engine's batch, appends it, and lets go what waited.
///
/// The append under way is the batching window: whatever arrives meanwhile shares the next one. With `--durability
/// interval` rows are shown as they are made, as far as a mark on disk covers them, and appended together later.
final class Committer: @unchecked Sendable {
    // Unchecked: every `var` is guarded by engine.lock, but for `gathering`, `unsynced`, `shownRows` and `unsyncedMark`, which
    // its own thread alone touches; `epoch` and `logHead` change on that thread alone.
    let engine: Engine
    let store: any LogStore
    let hub: EventHub
    let secret: [UInt8]
    let report: @Sendable (ServiceEvent) -> Void
    var epoch: Int64
    /// Position of the last row on disk.
    var logHead: Int64
    /// Rows that are made and not on disk yet, how many of them are shown, and the mark among them.
    var unsynced: [LogRow] = []
    var shownRows = 0
    var unsyncedMark: HighWaterMark?
    private var unsyncedBytes = 0
    /// Monotonic nanoseconds by which they are to be on disk.
    private var syncBy = Int64.max
    /// Whether somebody waits for them to be there.
    private var isHurried = false
    private(set) var deleteThrough: Int64 = 0
    private var expiredThrough: Int64 = 0
    private var deletedThrough: Int64
    /// Whether a deletion failed; the next one asked for tries again.
    private var deletionFailed = false
    /// Bytes of the rows' data in the log, but for rows that are to be deleted.
    var held: RowBytes
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
    private(set) var stopping = false

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
    /// Rows that were shown and are not on disk yet are written before their time once they are so many bytes.
    private static let mostUnsynced = 16 << 20
    /// What is shown before it is on disk gathers for so many nanoseconds.
    private static let longestGathering: Int64 = 2_000_000

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
            engine.lock.broadcast()
        }
    }

    /// Asks that rows take the place of others.
    func replace(_ rows: [RowReplacement]) {
        engine.lock.withLock(.commit) {
            replacements += rows
            engine.lock.broadcast()
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

    /// Has what waits for its time written at once.
    func hurry() {
        engine.lock.withLock(.commit) {
            guard engine.showsEarly, !isHurried else { return }
            isHurried = true
            engine.lock.broadcast()
        }
    }

    /// Ends `run` once everything is committed, or at once while storage fails.
    func stop() {
        engine.lock.withLock(.commit) {
            stopping = true
            engine.lock.broadcast()
        }
    }

    /// Commits until `stop`. The body of the committer's thread.
    func run() {
        while step() {
            if case .interval(let nanoseconds) = engine.configuration.durability {
                pause(min(nanoseconds, Self.longestGathering))
            }
        }
    }

    /// Waits for work and does it. Returns false when there will be none any more.
    func step() -> Bool {
        guard let work = next() else { return false }
        add(work.rows(after: unsynced.last?.last ?? logHead, epoch: epoch), work.mark)
        if work.isShownEarly { show() }
        if work.syncs {
            guard append() else { return false }
        }
        if let through = work.deletion {
            guard deleteRows(through) else { return false }
        }
        guard replaceRows(work.replacements) else { return false }
        keepBuffers(work)
        return true
    }

    /// Whether a step would find something to do. Called under the lock.
    var hasWork: Bool {
        !engine.batch.isEmpty || wantsDeletion || !replacements.isEmpty || isSyncDue || stopping && engine.isMarkAhead
    }

    /// Whether rows are to be written now that were made before. Called under the lock.
    private var isSyncDue: Bool {
        !unsynced.isEmpty
            && (stopping || isHurried || unsyncedBytes >= Self.mostUnsynced || Clocks.monotonic() >= syncBy)
    }

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
            work.isShownEarly = engine.mayShowBatch
            work.syncs = isSyncDue || !engine.mayShowBatch || stopping
            work.mark = markDue(syncs: work.syncs)
            if !engine.batch.isEmpty { take(&work) }
            if wantsDeletion && !stopping { work.deletion = deleteThrough }
            if !stopping { swap(&work.replacements, &replacements) }
            replaces = !work.replacements.isEmpty
            let isNone = work.base == nil && work.deletion == nil && work.replacements.isEmpty && unsynced.isEmpty
            return isNone ? nil : work
        }
    }

    /// Takes the batch. Called under the lock.
    func take(_ work: inout CommitWork) {
        // Before the batch is taken: the reading follows a step of the calendar.
        let base = engine.timeBase()
        engine.lastBase = base.now.elapsed
        swap(&work.records, &spare.records)
        swap(&work.kicks, &spare.kicks)
        swap(&work.records, &engine.batch)
        work.base = base
        work.first = engine.batchFirst
        swap(&work.kicks, &engine.kicks)
        work.isTickOnly = engine.isTickOnly
        work.firstKick = engine.placeKicks()
    }

    /// Writes the mark that has to go along with what is written now. Called under the lock.
    private func markDue(syncs: Bool) -> HighWaterMark? {
        let isLast = stopping && engine.showsEarly
        guard syncs, !engine.batch.isEmpty || !unsynced.isEmpty || isLast && engine.isMarkAhead else { return nil }
        guard isLast || engine.needsMark || engine.showsEarly && engine.isMarkLow, !engine.storageFails else {
            return nil
        }
        return engine.recordMark(isExact: isLast || !engine.showsEarly)
    }

    /// Sleeps until there may be work. In a silence the buffers go, most of the newest rows, and what the allocator keeps.
    private func rest() {
        guard unsynced.isEmpty else {
            _ = engine.lock.wait(nanoseconds: max(0, syncBy - Clocks.monotonic()))
            return
        }
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

    /// Takes rows among those that are to be on disk.
    func add(_ rows: [LogRow], _ mark: HighWaterMark?) {
        if let mark { unsyncedMark = mark }
        guard !rows.isEmpty else { return }
        if unsynced.isEmpty, case .interval(let nanoseconds) = engine.configuration.durability {
            let (end, overflow) = Clocks.monotonic().addingReportingOverflow(nanoseconds)
            syncBy = overflow ? .max : end
        }
        unsynced += rows
        unsyncedBytes += rows.reduce(0) { $0 + $1.data.count }
    }

    /// Shows the rows that were not shown yet.
    func show() {
        guard shownRows < unsynced.count, let last = unsynced.last?.last else { return }
        hub.publish(Array(unsynced[shownRows...]), durableThrough: logHead)
        shownRows = unsynced.count
        engine.setShown(last)
        hub.notify()
    }

    /// Makes the rows durable. Returns false when the service stops before storage works again.
    private func append() -> Bool {
        if unsynced.isEmpty { return true }
        let started = Clocks.monotonic()
        let outcome = store.append(unsynced, expecting: logHead, epoch: epoch)
        guard outcome == .durable else { return recover(outcome) }
        landed(from: started, to: Clocks.monotonic())
        return true
    }

    /// Notes that the rows are on disk, and shows what was not shown before.
    func landed(from started: Int64, to ended: Int64) {
        guard let last = unsynced.last?.last else { return }
        gathering.appended(from: started, to: ended)
        let seconds = Double(ended - started) / 1e9
        hub.publish(Array(unsynced[shownRows...]), durableThrough: last)
        engine.lock.withLock(.commit) {
            logHead = last
            held += RowBytes(unsynced)
            grownBytes += unsyncedBytes
            bytesInHaste += unsyncedBytes
            engine.counters.commitSeconds.observe(seconds)
            engine.counters.commitRecords.observe(Double(unsynced.reduce(0) { $0 + $1.last - $1.first + 1 }))
            if let mark = unsyncedMark { engine.setDurable(mark) }
            forgetRows()
        }
        engine.setDurable(last)
        hub.notify()
        if grownBytes >= Self.growthStep {
            grownBytes = 0
            onGrowth()
        }
    }

    /// Lets the rows go that are on disk, or lost. Called under the lock.
    func forgetRows() {
        unsynced = []
        shownRows = 0
        unsyncedBytes = 0
        unsyncedMark = nil
        syncBy = .max
        isHurried = false
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
            return reopen() || recover(.unknown(error))
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
            return reopen() || recover(.unknown(error))
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
