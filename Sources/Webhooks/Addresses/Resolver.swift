import Platform
import TimerCore

/// Looks names up on a bounded number of threads of its own.
///
/// The system's lookup can't be cut short: it keeps its thread until the last name server had its time. A name has one
/// lookup at a time, however many requests ask for it, so a name whose servers do not answer keeps one thread. Names
/// that were not found lately get at most three of four threads, so that such names can't keep those that were found
/// lately from being looked up.
final class Resolver: Sendable {
    /// Finds the addresses of a name, 4 or 16 bytes each; empty where there are none. May block.
    typealias Lookup = @Sendable (_ name: String) -> [[UInt8]]

    private struct State: Sendable {
        /// Names in the order in which they were asked for: those found lately, and the others.
        var known = FIFO<String>()
        var unknown = FIFO<String>()
        /// The names in these queues, each with whether it is still wanted.
        var queued: [String: Bool] = [:]
        var running: Set<String> = []
        /// The number of running lookups of names that were not found lately.
        var unknownRunning = 0
        var threads: [Thread] = []
        /// The indices of threads in a lookup.
        var busy: Set<Int> = []
        var isStopping = false
    }

    /// The next step of a thread.
    private enum Job {
        case lookUp(String, isKnown: Bool)
        case end
    }

    private let mostThreads: Int
    private let lookUp: Lookup
    private let found: @Sendable (_ name: String, _ addresses: [[UInt8]]) -> Void
    private let state = Guarded(State())

    /// - Parameter found: gets the result of each lookup, on the lookup's thread.
    init(
        threads: Int, lookUp: @escaping Lookup,
        found: @escaping @Sendable (_ name: String, _ addresses: [[UInt8]]) -> Void
    ) {
        mostThreads = max(1, threads)
        self.lookUp = lookUp
        self.found = found
    }

    /// Asks for a name; `found` is called once, also where the lookup is under way already.
    ///
    /// - Parameter isKnown: whether it was found lately.
    func ask(_ name: String, isKnown: Bool) {
        state.update { state in
            guard !state.running.contains(name), state.queued.updateValue(true, forKey: name) == nil else { return }
            if isKnown { state.known.append(name) } else { state.unknown.append(name) }
            let idle = state.threads.count - state.busy.count
            if idle < state.queued.count && state.threads.count < mostThreads && !state.isStopping {
                let index = state.threads.count
                state.threads.append(Thread(name: "lookup") { [self] in run(index) })
            }
        }
    }

    /// Withdraws a name that was asked for, unless its lookup has begun.
    func withdraw(_ name: String) { state.withLock { if $0.queued[name] != nil { $0.queued[name] = false } } }

    /// Whether the lookup of `name` has begun and not ended.
    func isRunning(_ name: String) -> Bool { state.withLock { $0.running.contains(name) } }

    /// Begins no more lookups, and waits for the threads that are in none; the others end with their lookups.
    func stop() {
        let (idle, busy) = state.update { state in
            state.isStopping = true
            let threads = state.threads.enumerated()
            return (
                threads.filter { !state.busy.contains($0.offset) }.map(\.element),
                threads.filter { state.busy.contains($0.offset) }.map(\.element)
            )
        }
        for thread in busy { thread.detach() }
        for thread in idle { thread.join() }
    }

    private func run(_ index: Int) {
        while case .lookUp(let name, let isKnown) = next(index) {
            let addresses = lookUp(name)
            // Another thread may wait for the place that this one frees.
            state.update { state in
                state.busy.remove(index)
                state.running.remove(name)
                if !isKnown { state.unknownRunning -= 1 }
            }
            found(name, addresses)
        }
    }

    /// Waits for a name to look up, or for the stop.
    private func next(_ index: Int) -> Job {
        state.wait { state in
            if state.isStopping { return .end }
            if let name = Self.pop(&state.known, &state.queued) {
                Self.begin(name, index, &state)
                return .lookUp(name, isKnown: true)
            }
            if state.unknownRunning < max(1, mostThreads * 3 / 4), let name = Self.pop(&state.unknown, &state.queued) {
                Self.begin(name, index, &state)
                state.unknownRunning += 1
                return .lookUp(name, isKnown: false)
            }
            return nil
        }
    }

    private static func begin(_ name: String, _ index: Int, _ state: inout State) {
        state.running.insert(name)
        state.busy.insert(index)
    }

    /// Takes the next name of a queue that is still wanted.
    private static func pop(_ queue: inout FIFO<String>, _ queued: inout [String: Bool]) -> String? {
        while let name = queue.popFirst() {
            if queued.removeValue(forKey: name) == true { return name }
        }
        return nil
    }
}
