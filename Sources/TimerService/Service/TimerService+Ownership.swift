import Platform
public import TimerLog

/// A log that comes and goes, where several processes share the storage.
extension TimerService {
    /// Takes the log over: opens it, folds it, and has all workers serve it. Returns once that is so. Any thread but the
    /// service's own, while the service runs and owns no log; one thread at a time calls this and `drop`.
    ///
    /// - Parameter moved: called now and then on the way.
    /// - Throws: as `init`.
    /// - Returns: the log; nil where the service stops.
    @discardableResult
    public func adopt(moved: () -> Void = {}) throws(StoreError) -> ActiveLog? {
        let recovered = try RecoveredLog.recover(store, configuration, isAhead: true, moved: moved)
        let active = ActiveLog(recovered, configuration: configuration, shared: shared, moved: moved, report: report)
        do throws(StoreError) { try active.checkZones() } catch {
            discard(active)
            throw error
        }
        dispatcher?.watch(active)
        feed.follow(active)
        guard gate.admit(active) else {
            discard(active)
            return nil
        }
        // What was recorded before the committer knew of it.
        active.callCommitter()
        let replanned = active.engine.replanZoned()
        if replanned > 0 { report(.timeZonesChanged(timers: replanned)) }
        active.engine.callFireLoop()
        feed.notify()
        return active
    }

    /// Ends the log at once, as another process owns it or may: nothing more of it is committed or shown, and clients that wait
    /// for a change are told that its outcome is not known. The log is closed once nobody reads it. Nothing happens where this
    /// process owns none. Any thread but the service's own.
    public func drop() {
        guard let active = log.value else { return }
        active.end()
        gate.dismiss()
        // Each worker lets go of it.
        active.callCommitter()
        compactor.nudge()
        dispatcher?.wake()
        feed.notify()
        discard(active)
    }

    private func discard(_ active: ActiveLog) {
        active.close()
        active.engine.leave()
        shared.alarm.arm(boottime: .max)
    }
}
