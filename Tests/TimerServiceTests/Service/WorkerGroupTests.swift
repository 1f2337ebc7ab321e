import Platform
import TestSupport
import Testing

@testable import TimerService

struct WorkerGroupTests {
    /// A worker that notes its calls, and works until it is stopped.
    private final class Recorder: Worker {
        let name: String
        let threadCount: Int
        private let log: Guarded<[String]>
        private let isStopped = Guarded(false)

        init(_ name: String, threads: Int = 1, _ log: Guarded<[String]>) {
            self.name = name
            threadCount = threads
            self.log = log
        }

        func prepare() { log.withLock { $0.append("\(name) prepared") } }

        func run() {
            isStopped.wait { $0 ? () : nil }
            log.withLock { $0.append("\(name) ended") }
        }

        func drain(seconds: Double) { log.withLock { $0.append("\(name) drained for \(seconds)") } }

        func stop() { isStopped.update { $0 = true } }
    }

    @Test func `workers start in order, and are drained and stopped the other way round`() {
        let log = Guarded<[String]>([])
        let group = WorkerGroup([Recorder("a", log), Recorder("b", threads: 2, log), Recorder("c", threads: 0, log)])
        group.start()
        group.drain(seconds: 3)
        group.stop()
        #expect(
            log.withLock { $0 } == [
                "a prepared", "b prepared", "c prepared", "c drained for 3.0", "b drained for 3.0",
                "a drained for 3.0", "b ended", "b ended", "a ended",
            ])
    }

    @Test func `a second stop does nothing`() {
        let log = Guarded<[String]>([])
        let group = WorkerGroup([Recorder("a", log)])
        group.start()
        group.stop()
        group.stop()
        #expect(log.withLock { $0 } == ["a prepared", "a ended"])
    }
}
