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
            // Another thread may wait in `next` until this lookup no longer counts in `unknownRunning`.
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

/// The addresses of names that were looked up lately.
struct AddressBook {
    /// The time for which an answer is used, in nanoseconds: as long as libcurl would use one of its own.
    static let lifetime: Int64 = 60_000_000_000
    /// The most names that are kept; beyond that all are dropped.
    static let capacity = 4096

    private struct Entry {
        var addresses: [[UInt8]]
        /// The instant at which the entry expires, on the monotonic clock.
        var until: Int64
    }

    private var entries: [String: Entry] = [:]

    /// Returns the addresses of `name`; nil where it has to be looked up.
    func addresses(of name: String, now: Int64) -> [[UInt8]]? {
        entries[name].flatMap { now < $0.until ? $0.addresses : nil }
    }

    /// Whether the last lookup of `name` found an address.
    func knows(_ name: String) -> Bool { entries[name] != nil }

    /// Notes what a lookup found; drops the name where `addresses` is empty.
    mutating func note(_ name: String, _ addresses: [[UInt8]], now: Int64) {
        guard !addresses.isEmpty else {
            entries[name] = nil
            return
        }
        if entries.count >= Self.capacity && entries[name] == nil { entries.removeAll(keepingCapacity: true) }
        entries[name] = Entry(addresses: addresses, until: now + Self.lifetime)
    }
}

/// Requests that wait for the addresses of a host.
struct WaitingRequests {
    private var requests: [String: [TimedRequest]] = [:]
    /// The number of requests that wait.
    private(set) var count = 0
    /// The earliest instant at which a request may time out, on the monotonic clock.
    private(set) var nextDeadline = Int64.max

    /// Adds a request. Returns whether it is the first that waits for `name`.
    mutating func add(_ request: TimedRequest, for name: String) -> Bool {
        count += 1
        nextDeadline = min(nextDeadline, request.deadline)
        requests[name, default: []].append(request)
        return requests[name]?.count == 1
    }

    /// Takes out the requests that wait for `name`.
    mutating func take(_ name: String) -> [TimedRequest] {
        let taken = requests.removeValue(forKey: name) ?? []
        count -= taken.count
        return taken
    }

    /// Takes out all requests.
    mutating func takeAll() -> [TimedRequest] { requests.keys.sorted().flatMap { take($0) } }

    /// Takes out the requests whose time is over, except those of names whose lookup has begun: they keep their
    /// places until the lookup has ended. Lookups that no request waits for could otherwise occupy every thread.
    ///
    /// - Parameter lookups: the resolver, from which names are withdrawn that no request waits for any more.
    mutating func takeExpired(now: Int64, _ lookups: Resolver) -> [TimedRequest] {
        guard now >= nextDeadline else { return [] }
        nextDeadline = .max
        var taken: [TimedRequest] = []
        for (name, waiting) in requests {
            var left = waiting
            if waiting.contains(where: { $0.deadline <= now }) {
                guard !lookups.isRunning(name) else { continue }
                taken += waiting.filter { $0.deadline <= now }
                left = waiting.filter { $0.deadline > now }
                requests[name] = left.isEmpty ? nil : left
                if left.isEmpty { lookups.withdraw(name) }
            }
            nextDeadline = left.reduce(nextDeadline) { min($0, $1.deadline) }
        }
        count -= taken.count
        return taken
    }
}
