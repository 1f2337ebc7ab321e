import TimerCore
import TimerLog

/// A drain: fires, webhooks and changes are stopped, until it is taken back. It is in the log.
extension Engine {
    /// Drains the engine, or has it go on. What came due meanwhile then misfires, as after any stand-still.
    func setDrained(_ isDrained: Bool, _ now: Now) {
        guard isDrained != self.isDrained else { return }
        self.isDrained = isDrained
        recordDrain(now)
        guard !isDrained else { return }
        drainStamp &+= 1
        // The reading counts the drain as time in which the server was not up.
        _ = instant()
        afterChanges(clockNow)
        callFireLoop()
    }

    /// Drains the engine, from which no thread but the caller's takes anything yet.
    func joinDrain() { lock.withLock { setDrained(true, instant()) } }

    private func recordDrain(_ now: Now) {
        _ = takePosition()
        RecordCodec.appendDrain(isDrained, at: now.wall, to: &batch.records)
    }

    /// Writes anew what old rows say of a drain and of imports.
    func carryMove() {
        if isDrained { recordDrain(clockNow) }
        for progress in imports.all {
            _ = takePosition()
            RecordCodec.append(progress, to: &batch.records)
        }
    }
}

extension Turn {
    /// Whether fires, webhooks and changes are stopped.
    public var isDrained: Bool { engine.isDrained }

    /// Attempts at deliveries that are under way: a drain waits for their ends.
    public var attemptsUnderWay: Int { engine.attempted.count }

    /// Stops fires, webhooks and changes, or has them go on. Nothing happens where it is so already.
    public func setDrained(_ isDrained: Bool) throws(ServiceError) {
        guard engine.takesRecords else { throw engine.storageFails ? .storageUnavailable : .shuttingDown }
        engine.setDrained(isDrained, now)
    }
}
