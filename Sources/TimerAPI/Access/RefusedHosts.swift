import Platform

/// The names for which requests were refused because `Host` may not have them. Each is reported to
/// the operator at most once a minute: a name that is missing from `--allow-host` must be found in
/// the log, and no client may fill the log.
final class RefusedHosts: Sendable {
    /// The instant at which each name was last reported, in monotonic nanoseconds.
    private let reported = Guarded<[String: Int64]>([:])
    private let report: @Sendable (String) -> Void

    /// The nanoseconds between two reports of one name.
    static let pause: Int64 = 60_000_000_000
    /// The most names reported within one pause; further ones are not reported.
    static let mostNames = 16

    /// - Parameter report: is called with the name, from any thread.
    init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

    /// Takes note of a request for `host`, without a port, at the monotonic instant `now`.
    func note(_ host: String, now: Int64) {
        let isNews = reported.withLock { reported in
            if let last = reported[host], now - last < Self.pause { return false }
            if reported.count >= Self.mostNames {
                reported = reported.filter { now - $0.value < Self.pause }
                guard reported.count < Self.mostNames else { return false }
            }
            reported[host] = now
            return true
        }
        if isNews { report(host) }
    }
}
