import Platform

/// The workers of a service, in the order in which they start. They are drained and stopped the other way round, so each
/// may rest on those before it.
final class WorkerGroup: Sendable {
    private struct Running: Sendable {
        var worker: any Worker
        var threads: [Thread] = []
    }

    private let workers: [any Worker]
    private let running = Guarded<[Running]>([])

    /// - Parameter workers: in the order in which they start.
    init(_ workers: [any Worker]) { self.workers = workers }

    /// Starts every worker. Call once.
    func start() {
        for worker in workers {
            worker.prepare()
            let threads = (0..<worker.threadCount).map { _ in Thread(name: worker.name) { worker.run() } }
            running.withLock { $0.append(Running(worker: worker, threads: threads)) }
        }
    }

    /// Has every worker begin nothing new, and waits up to `seconds` for what is under way.
    func drain(seconds: Double) {
        for worker in workers.reversed() { worker.drain(seconds: seconds) }
    }

    /// Stops every worker; its threads have ended when it returns.
    func stop() {
        let running = self.running.withLock { running in
            defer { running = [] }
            return running
        }
        for one in running.reversed() {
            one.worker.stop()
            for thread in one.threads { thread.join() }
        }
    }
}
