import Platform

/// The workers of a service, in the order in which they start. Workers are drained and stopped in reverse, so each
/// may rely on those before it.
final class WorkerGroup: Sendable {
    private struct Running: Sendable {
        var worker: any Worker
        var threads: [Thread] = []
    }

    private let workers: [any Worker]
    private let running = Guarded<[Running]>([])

    /// - Parameter workers: in the order in which they start.
    init(_ workers: [any Worker]) { self.workers = workers }

    /// Starts every worker. Called once.
    func start() {
        for worker in workers {
            worker.prepare()
            let threads = (0..<worker.threadCount).map { _ in Thread(name: worker.name) { worker.run() } }
            running.withLock { $0.append(Running(worker: worker, threads: threads)) }
        }
    }

    /// Drains one worker after another: each begins nothing new, and has up to `seconds` to end its work under way.
    func drain(seconds: Double) {
        for worker in workers.reversed() { worker.drain(seconds: seconds) }
    }

    /// Stops every worker; all threads have ended when this returns.
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

/// A part of the service that works on threads of its own.
protocol Worker: AnyObject, Sendable {
    /// The name of the worker's threads.
    var name: String { get }
    /// The number of threads that run the worker.
    var threadCount: Int { get }
    /// Does what is needed before the worker's threads start. Called once.
    func prepare()
    /// Works until `stop`. The body of each thread.
    func run()
    /// Begins nothing new, and waits up to `seconds` for the work under way. Not called on the worker's own threads.
    func drain(seconds: Double)
    /// Makes the worker's threads end soon.
    func stop()
}

extension Worker {
    /// One thread.
    var threadCount: Int { 1 }
    /// Does nothing.
    func prepare() {}
    /// Does nothing: the work under way is short.
    func drain(seconds: Double) {}
}
