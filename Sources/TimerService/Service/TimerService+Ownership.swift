import Platform
import Synchronization
public import TimerCore
public import TimerLog

/// The take-over and the dropping of the log, where several processes share the storage.
extension TimerService {
    /// Takes the log over: opens it, folds it, and makes all workers serve it, all before this returns. A log that lacks
    /// rows which an owner before had shown is held: see `acceptLoss`. May be
    /// called on any thread but the service's own, while the service runs and owns no log; one thread at a time
    /// calls this and `drop`.
    ///
    /// - Parameters:
    ///   - moved: called now and then meanwhile.
    ///   - check: called with the log's access keys before anything of the log is shown; a log for which it throws is
    ///     closed again.
    /// - Throws: the errors of `init`, and that of `check`.
    /// - Returns: the log; nil where the service stops.
    @discardableResult
    public func adopt(
        moved: () -> Void = {}, checking check: (KeyRing) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) -> ActiveLog? {
        var fold = standby?.take()
        do throws(StoreError) {
            return try adopt(from: &fold, moved: moved, checking: check)
        } catch {
            standby?.restart(fold.take())
            throw error
        }
    }

    private func adopt(
        from fold: inout StandbyFold?, moved: () -> Void, checking check: (KeyRing) throws(StoreError) -> Void
    ) throws(StoreError) -> ActiveLog? {
        let recovered = try RecoveredLog.recover(store, configuration, from: &fold, isAhead: true, moved: moved)
        let isLoss = recovered.loss != nil
        if let loss = recovered.loss { shared.losses.note(loss) }
        do throws(StoreError) { try check(recovered.fold.keys) } catch {
            store.close()
            throw error
        }
        let active = ActiveLog(recovered, configuration: configuration, shared: shared, moved: moved, report: report)
        do throws(StoreError) { try active.checkZones() } catch {
            discard(active)
            throw error
        }
        if isLoss || shared.losses.held != nil { active.hold() }
        dispatcher?.watch(active)
        feed.follow(active)
        guard gate.admit(active) else {
            discard(active)
            return nil
        }
        // Records may have been made before the committer had this log.
        active.callCommitter()
        let replanned = active.engine.replanZoned(moved: moved)
        if replanned > 0 { report(.timeZonesChanged(timers: replanned)) }
        active.engine.callFireLoop()
        feed.notify()
        return active
    }

    /// Ends the log at once, as another process owns it or may: nothing more of it is committed or shown, and
    /// clients that wait for a change are answered that its outcome is not known. The log is closed once nobody
    /// reads it. Does nothing where this process owns none. May be called on any thread but the service's own.
    public func drop() {
        guard let active = log.value else { return }
        active.end()
        gate.dismiss()
        // Each worker drops the log.
        active.callCommitter()
        compactor.nudge()
        dispatcher?.wake()
        feed.notify()
        discard(active)
        standby?.restart(hadEngine: true)
        active.engine.onFreed = { [weak standby] in standby?.engineWasFreed() }
    }

    /// Ends the log so that another process can have it: nothing that was begun is lost. Deliveries under way and streams
    /// with an end are waited for first, while requests are still answered. From then on requests count as those of the
    /// next owner; requests of several steps end, and everything is on disk before the log is dropped. Drops the log in
    /// any case. Called as `drop` is.
    ///
    /// - Parameter patience: nanoseconds for which deliveries and streams are waited for at most.
    /// - Returns: position beyond which this process has given and shown nothing; nil where it owns no log.
    public func release(patience: Int64) -> Int64? { release(patience: patience, longest: Self.longestRelease) }

    /// - Parameter longest: nanoseconds for which requests under way, and then the disk, are waited for at most.
    func release(patience: Int64, longest: Int64) -> Int64? {
        guard let active = log.value else { return nil }
        let engine = active.engine
        engine.endDeliveries()
        wait(for: active, patience) { histories.isZero && !engine.hasAttempts }
        isReleasing.store(true, ordering: .releasing)
        wait(for: active, longest) { runs.isZero }
        engine.close()
        active.hurry()
        active.callCommitter()
        wait(for: active, longest) { engine.isSettled }
        drop()
        isReleasing.store(false, ordering: .releasing)
        return engine.claimedThrough
    }

    /// Nanoseconds for which a release waits at most for requests under way, and then for the disk; and those between
    /// two looks.
    private static let (longestRelease, releasePause): (Int64, Int64) = (2_000_000_000, 1_000_000)

    /// Waits while the process may show the log.
    private func wait(for active: ActiveLog, _ patience: Int64, until isDone: () -> Bool) {
        let end = Clocks.monotonic() + patience
        while !isDone(), !active.hasEnded, shared.lease?.isValid ?? true, Clocks.monotonic() < end {
            _ = Guarded(()).wait(nanoseconds: Self.releasePause) { _ in nil as Void? }
        }
    }

    private func discard(_ active: ActiveLog) {
        shared.access.ring.publish(nil)
        active.close()
        active.engine.leave()
        shared.alarm.arm(boottime: .max)
    }
}
