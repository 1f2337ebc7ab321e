import Platform

/// Lets the log in and out, and no further changes in once the service stops. Without a thread: its place among the
/// workers says when.
final class ChangeGate: Worker {
    let name = "gate"
    let threadCount = 0
    private let log: Published<ActiveLog?>
    private let isShut = Guarded(false)

    /// - Parameter log: where the log that is let in is published.
    init(_ log: Published<ActiveLog?>) { self.log = log }

    func run() {}

    /// Publishes `active`. Returns whether it was let in: none is once the service stops.
    func admit(_ active: ActiveLog) -> Bool {
        isShut.withLock { isShut in
            if !isShut { log.publish(active) }
            return !isShut
        }
    }

    /// Publishes that there is no log.
    func dismiss() { isShut.withLock { _ in log.publish(nil) } }

    /// Refuses further changes; what was taken is still committed.
    func stop() {
        isShut.withLock { isShut in
            isShut = true
            log.value?.engine.close()
        }
    }
}
