import TimerCore
import TimerLog

/// A drain, which stops fires, webhooks and changes until it is taken back. The log records it.
extension Engine {
    /// Drains the engine, or ends the drain. Timers that came due during a drain then misfire, as after any
    /// stand-still.
    func setDrained(_ isDrained: Bool, _ now: Now) {
        guard isDrained != self.isDrained else { return }
        self.isDrained = isDrained
        drainedBy = actor
        recordDrain(now)
        guard !isDrained else { return }
        drainStamp &+= 1
        // The reading counts the drain as time in which the server was not up.
        _ = instant()
        afterChanges(clockNow)
        callFireLoop()
    }

    private func recordDrain(_ now: Now) {
        _ = takePosition()
        RecordCodec.appendDrain(isDrained, by: drainedBy, at: now.wall, to: &batch.records.open)
    }

    /// Writes again what old rows record of a drain and of imports, as those rows are about to be deleted.
    func carryMove() {
        if isDrained { recordDrain(clockNow) }
        for progress in imports.all {
            _ = takePosition()
            RecordCodec.append(progress, to: &batch.records.open)
        }
    }
}

extension Turn {
    /// Whether fires, webhooks and changes are stopped.
    public var isDrained: Bool { engine.isDrained }

    /// The delivery attempts under way; a drain waits for them to end.
    public var attemptsUnderWay: Int { engine.attempted.count }

    /// Stops fires, webhooks and changes, or resumes them. Does nothing where that is so already.
    public func setDrained(_ isDrained: Bool) throws(ServiceError) {
        guard engine.takesRecords else { throw engine.storageFails ? .storageUnavailable : .shuttingDown }
        engine.setDrained(isDrained, now)
    }
}
