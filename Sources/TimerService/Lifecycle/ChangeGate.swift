import Platform

/// The gate that admits and dismisses the log, and refuses further changes once the service stops. The gate has no
/// thread: its place among the workers decides when it shuts.
final class ChangeGate: Worker {
    let name = "gate"
    let threadCount = 0
    private let log: Published<ActiveLog?>
    private let isShut = Guarded(false)

    /// - Parameter log: the place where an admitted log is published.
    init(_ log: Published<ActiveLog?>) { self.log = log }

    func run() {}

    /// Publishes `active`. Returns whether it was admitted: no log is once the service stops.
    func admit(_ active: ActiveLog) -> Bool {
        isShut.withLock { isShut in
            if !isShut { log.publish(active) }
            return !isShut
        }
    }

    /// Publishes that there is no log.
    func dismiss() { isShut.withLock { _ in log.publish(nil) } }

    /// Refuses further changes; changes that were taken are still committed.
    func stop() {
        isShut.withLock { isShut in
            isShut = true
            log.value?.engine.close()
        }
    }
}
