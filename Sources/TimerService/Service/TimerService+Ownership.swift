import Platform
public import TimerLog

/// The take-over and the dropping of the log, where several processes share the storage.
extension TimerService {
    /// Takes the log over: opens it, folds it, and makes all workers serve it, all before this returns. May be
    /// called on any thread but the service's own, while the service runs and owns no log; one thread at a time
    /// calls this and `drop`.
    ///
    /// - Parameter moved: called now and then meanwhile.
    /// - Throws: the errors of `init`.
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
        // Records may have been made before the committer had this log.
        active.callCommitter()
        let replanned = active.engine.replanZoned()
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
    }

    private func discard(_ active: ActiveLog) {
        active.close()
        active.engine.leave()
        shared.alarm.arm(boottime: .max)
    }
}
