import Platform
import Synchronization
import TimerCore
import TimerLog

/// A fold of the log beside the committer, on a thread of its own.
///
/// The log's tail is left alone, and its engine takes no changes, until the fold has ended.
final class Refold: Sendable {
    /// The end of the log, as a fold found it.
    struct Found: Sendable {
        var epoch: Int64
        /// Position of the last row.
        var head: Int64
    }

    private struct State {
        /// The thread that folds; nil where the fold ran at once, or was waited for.
        var thread: Thread?
        var result: Result<Found, StoreError>?
    }

    private let state = Guarded(State())

    /// Begins a fold of `log`, which wakes the committer when it has ended.
    ///
    /// - Parameter isAtOnce: whether the fold runs on the caller's thread, for tests that have but one.
    init(_ log: ActiveLog, _ request: StorageRecovery.FoldRequest, isAtOnce: Bool) {
        let (head, epoch) = (log.tail.head, log.tail.epoch)
        let fold: @Sendable () -> Void = { [self] in
            let result = Result { () throws(StoreError) in try log.refold(request, head: head, epoch: epoch) }
            state.withLock { $0.result = result }
            log.callCommitter()
        }
        if isAtOnce {
            fold()
        } else {
            let thread = Thread(name: "refold", fold)
            state.withLock { $0.thread = thread }
        }
    }

    deinit { state.withLock { $0.thread }?.detach() }

    /// The result of the fold; nil while it is under way.
    var result: Result<Found, StoreError>? { state.withLock { $0.result } }

    /// Waits until the fold has ended.
    func wait() {
        state.withLock { state in
            defer { state.thread = nil }
            return state.thread
        }?.join()
    }
}

extension ActiveLog {
    /// Finds out what the disk holds and begins again from there. Called without the engine's lock.
    ///
    /// - Parameters:
    ///   - head: the end of the log before the rows whose fate is to be found out.
    ///   - epoch: the epoch of the writer up to now.
    fileprivate func refold(
        _ request: StorageRecovery.FoldRequest, head: Int64, epoch: Int64
    ) throws(StoreError) -> Refold.Found {
        if request.showsDurablePart { showDurablePart(before: request.rows, head: head) }
        let begun = Clocks.monotonic()
        let epoch = request.isReopening ? try store.open().epoch : epoch
        var fold = emptyFold()
        try store.fold(into: &fold)
        let (bytes, written) = (fold.bytes, fold.lastWritten)
        let landed = try landed(of: request.rows)
        var state = engine.state(of: fold)
        let newHead = state.head
        // A log that has lost rows ends earlier than it did, apart from the rows that its opening wrote.
        let end = request.followsLoss ? written : newHead
        let kept = landed.last?.last ?? min(head, end)
        // Rows that are on disk after all are shown like any commit.
        if !landed.isEmpty { hub.publish(landed, durableThrough: kept) }
        // Rows of another writer are read from the store.
        hub.reset(head: newHead, keeping: kept)
        trim.reset(held: bytes)
        engine.restart(&state, keeping: kept, isLoss: request.followsLoss)
        report(.logRefolded(seconds: Double(Clocks.monotonic() - begun) / 1e9))
        if request.followsLoss { losses.note(LostRows(after: written, through: head)) }
        return Refold.Found(epoch: epoch, head: newHead)
    }

    /// Makes reads show what was surely on disk before `rows`, until the fate of `rows` is known.
    private func showDurablePart(before rows: [LogRow], head: Int64) {
        var fold = emptyFold()
        do throws(StoreError) { try store.fold(into: &fold, through: head) } catch {
            return report(.storageStillFailing(error))
        }
        var state = engine.state(of: fold)
        engine.restart(&state, keeping: rows.last?.last ?? head)
        hub.notify()
    }

    private func emptyFold() -> LogFold {
        LogFold(
            secret: secret, maximumTimers: engine.configuration.maximumTimers, zones: engine.configuration.zones,
            goingThrough: trim.deleteThrough)
    }

    /// Returns the first of `rows` that the log holds: a store may write a large append in pieces, of which the
    /// later ones may be missing.
    private func landed(of rows: [LogRow]) throws(StoreError) -> [LogRow] {
        let reader = try store.makeReader()
        var count = 0
        while count < rows.count, try reader.row(holding: rows[count].first) == rows[count] { count += 1 }
        return Array(rows.prefix(count))
    }
}
