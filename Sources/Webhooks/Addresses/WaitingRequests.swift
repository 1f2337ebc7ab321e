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
