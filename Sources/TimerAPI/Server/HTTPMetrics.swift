import HTTPServer
import Platform
import TimerService

/// The requests of one loop, counted for `/metrics`.
final class HTTPMetrics: Sendable {
    /// The route, method and status code by which requests are counted.
    struct Key: Hashable {
        /// The route; nil if the path led to none.
        var route: Route?
        var method: String
        var code: Int
    }

    private struct Counts: Sendable {
        /// The number of requests, by a number that encodes route, method and status code.
        var requests: [Int: Int] = [:]
        /// The durations of requests, by the place of their route.
        var seconds = [Histogram](
            repeating: Histogram(bounds: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]),
            count: Route.allCases.count + 1)
    }

    private let counts = Guarded(Counts())

    private static let methods: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options, .other]

    /// Returns the index of the counts of `route`; requests without a route come last.
    static func place(_ route: Route?) -> Int { route?.rawValue ?? Route.allCases.count }

    /// Returns the label of `route`. Paths without a route share one label, since clients can make
    /// any number of them.
    static func label(_ route: Route?) -> String { route?.path ?? "other" }

    /// Counts a request that was answered; `route` is nil if its path led to no route.
    func count(_ route: Route?, _ method: HTTPMethod, _ code: Int, seconds elapsed: Double) {
        let place = Self.place(route)
        let methodIndex = Self.methods.firstIndex(of: method) ?? 0
        let key = (place * Self.methods.count + methodIndex) * 1000 + code
        counts.withLock { counts in
            counts.requests[key, default: 0] += 1
            counts.seconds[place].observe(elapsed)
        }
    }

    /// The number of requests so far.
    var total: Int { counts.withLock { $0.requests.values.reduce(0, +) } }

    /// Returns the counts so far.
    func snapshot() -> (requests: [Key: Int], seconds: [Histogram]) {
        counts.withLock { counts in
            var named: [Key: Int] = [:]
            for (key, count) in counts.requests {
                let route = Route(rawValue: key / 1000 / Self.methods.count)
                let method = Self.methods[key / 1000 % Self.methods.count]
                named[Key(route: route, method: "\(method.name)", code: key % 1000)] = count
            }
            return (named, counts.seconds)
        }
    }
}
