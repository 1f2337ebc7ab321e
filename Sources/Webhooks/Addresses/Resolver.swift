import Platform
import TimerCore

/// Looks names up on a bounded number of threads of its own.
///
/// The system's lookup can't be cut short: it keeps its thread until the last name server was waited for. A name is
/// looked up once at a time, whoever asks, so a name whose servers are silent keeps one thread. Names that were not
/// found lately get three of four threads at most: those that were are looked up beside them, whatever others do.
final class Resolver: @unchecked Sendable {  // unchecked: what changes is guarded by `lock`
    /// Finds the addresses of a name, 4 or 16 bytes each; empty where there are none. May block.
    typealias Lookup = @Sendable (_ name: String) -> [[UInt8]]

    private let mostThreads: Int
    private let lookUp: Lookup
    private let found: @Sendable (_ name: String, _ addresses: [[UInt8]]) -> Void
    private let lock = Lock()
    /// Names in the order in which they were asked for: those found lately, and the others.
    private var known = FIFO<String>()
    private var unknown = FIFO<String>()
    /// The names in these queues, each with whether it is still wanted.
    private var queued: [String: Bool] = [:]
    private var running: Set<String> = []
    /// How many of those running were not found lately.
    private var unknownRunning = 0
    private var threads: [Thread] = []
    /// Threads in a lookup.
    private var busy: Set<Int> = []
    private var isStopping = false

    /// - Parameter found: gets what each lookup came to, on its thread.
    init(
        threads: Int, lookUp: @escaping Lookup,
        found: @escaping @Sendable (_ name: String, _ addresses: [[UInt8]]) -> Void
    ) {
        mostThreads = max(1, threads)
        self.lookUp = lookUp
        self.found = found
    }

    /// Asks for a name; `found` is told once, also where its lookup is under way already.
    ///
    /// - Parameter isKnown: whether it was found lately.
    func ask(_ name: String, isKnown: Bool) {
        lock.withLock {
            guard !running.contains(name), queued.updateValue(true, forKey: name) == nil else { return }
            if isKnown { known.append(name) } else { unknown.append(name) }
            if threads.count - busy.count < queued.count && threads.count < mostThreads && !isStopping { addThread() }
            lock.broadcast()
        }
    }

    /// Takes back that a name was asked for, unless its lookup has begun.
    func withdraw(_ name: String) { lock.withLock { if queued[name] != nil { queued[name] = false } } }

    /// Whether the lookup of `name` has begun and not ended.
    func isRunning(_ name: String) -> Bool { lock.withLock { running.contains(name) } }

    /// Begins no more lookups, and waits for the threads that are in none; the others end with their lookups.
    func stop() {
        let idle = lock.withLock {
            isStopping = true
            lock.broadcast()
            return threads.indices.filter { !busy.contains($0) }.map { threads[$0] }
        }
        for thread in idle { thread.join() }
    }

    private func addThread() {
        let index = threads.count
        threads.append(Thread(name: "lookup") { [self] in run(index) })
    }

    private func run(_ index: Int) {
        while let (name, isKnown) = next(index) {
            let addresses = lookUp(name)
            lock.withLock {
                busy.remove(index)
                running.remove(name)
                if !isKnown { unknownRunning -= 1 }
                // Another thread may wait for the place that this one gave back.
                lock.broadcast()
            }
            found(name, addresses)
        }
    }

    /// Waits for a name; nil once stopped.
    private func next(_ index: Int) -> (name: String, isKnown: Bool)? {
        lock.withLock {
            while !isStopping {
                if let name = pop(&known) {
                    begin(name, index)
                    return (name, true)
                }
                if unknownRunning < max(1, mostThreads * 3 / 4), let name = pop(&unknown) {
                    begin(name, index)
                    unknownRunning += 1
                    return (name, false)
                }
                lock.wait()
            }
            return nil
        }
    }

    private func begin(_ name: String, _ index: Int) {
        running.insert(name)
        busy.insert(index)
    }

    /// The next name of a queue that is still wanted.
    private func pop(_ queue: inout FIFO<String>) -> String? {
        while let name = queue.popFirst() {
            if queued.removeValue(forKey: name) == true { return name }
        }
        return nil
    }
}
