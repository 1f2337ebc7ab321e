import Platform
import Synchronization

/// The thread that fires what is due: it takes bounded steps of the engine, then sleeps until the alarm.
final class FireLoop: Worker {
    let name = "fire"
    private let alarm: any Alarm
    private let heart: Heartbeat
    private let stopping = Atomic<Bool>(false)
    /// The longest sleep, in milliseconds: the loop proves that it moves even when nothing is due.
    private static let longestSleep: Int32 = 1000
    /// The sleep while too many records wait for the disk, or sockets are still to be read, in milliseconds.
    private static let backpressureSleep: Int32 = 1

    private let log: Published<ActiveLog?>
    private let report: @Sendable (ServiceEvent) -> Void

    init(
        _ log: Published<ActiveLog?>, _ alarm: any Alarm, heart: Heartbeat,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        self.log = log
        self.alarm = alarm
        self.heart = heart
        self.report = report
    }

    /// Plans again, before anything fires, the cron timers whose zones' data have changed since the log was written.
    func prepare() {
        let replanned = log.value?.engine.replanZoned() ?? 0
        if replanned > 0 { report(.timeZonesChanged(timers: replanned)) }
    }

    /// Fires timers until `stop`. The body of the fire loop's thread.
    func run() {
        while !stopping.load(ordering: .acquiring) {
            switch step() {
            case .done: alarm.wait(milliseconds: Self.longestSleep)
            case .more: log.value?.engine.yieldLock(naps: Lock.mostNaps)
            case .held: alarm.wait(milliseconds: Self.backpressureSleep)
            }
        }
    }

    /// Takes a step of the engine, where this process owns the log.
    func step() -> Engine.FireStep {
        heart.beat()
        return log.value?.engine.fire() ?? .done
    }

    func stop() {
        stopping.store(true, ordering: .releasing)
        alarm.ring()
    }
}
