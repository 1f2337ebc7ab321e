import Platform
import Synchronization

/// The thread that fires what is due: it advances the engine in bounded steps, then sleeps until the alarm.
final class FireLoop: Worker {
    let name = "fire"
    private let engine: Engine
    private let heart: Heartbeat
    private let stopping = Atomic<Bool>(false)
    /// The longest sleep, in milliseconds: the loop proves that it moves even when nothing is due.
    private static let longestSleep: Int32 = 1000
    /// Sleep while too many records wait for the disk.
    private static let backpressureSleep: Int32 = 1

    private let report: @Sendable (ServiceEvent) -> Void

    init(_ engine: Engine, heart: Heartbeat, report: @escaping @Sendable (ServiceEvent) -> Void) {
        self.engine = engine
        self.heart = heart
        self.report = report
    }

    /// Plans cron timers anew whose zones' data have changed since the log was written: nothing fires before.
    func prepare() {
        let replanned = engine.replanCron()
        if replanned > 0 { report(.timeZonesChanged(timers: replanned)) }
    }

    /// Fires until `stop`. The body of its thread.
    func run() {
        while !stopping.load(ordering: .acquiring) {
            heart.beat()
            switch engine.fire() {
            case .done: engine.alarm.wait(milliseconds: Self.longestSleep)
            case .more: engine.letOthersIn(naps: Lock.mostNaps)
            case .held: engine.alarm.wait(milliseconds: Self.backpressureSleep)
            }
        }
    }

    func stop() {
        stopping.store(true, ordering: .releasing)
        engine.alarm.ring()
    }
}
