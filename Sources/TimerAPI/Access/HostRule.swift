import Platform
import Primitives

/// A host name, besides addresses and names without a dot, that `Host` may have where it is checked: `--allow-host`.
public enum HostRule: Sendable, Equatable {
    /// This one name, in lower case.
    case name(String)
    /// Every name that ends in this suffix, its leading dot included, in lower case: `.svc.cluster.local`.
    case below(String)
    /// Every name.
    case any

    /// Reads `timers.example`, `.svc.cluster.local` or `*`; nil for anything else, a name with a port included.
    public init?(_ text: String) {
        if text == "*" {
            self = .any
            return
        }
        let lowercase = text.lowercased()
        let isBelow = lowercase.hasPrefix(".")
        let labels = lowercase.dropFirst(isBelow ? 1 : 0).split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Alphanumeric.isInHostName) }) else { return nil }
        self = isBelow ? .below(lowercase) : .name(lowercase)
    }

    /// Whether the rule allows `host`, which is in lower case and has no port.
    func allows(_ host: String) -> Bool {
        switch self {
        case .name(let name): host == name
        case .below(let suffix): host.utf8.count > suffix.utf8.count && host.hasSuffix(suffix)
        case .any: true
        }
    }
}

/// The host names for which requests were refused. Each is reported to the operator at most once a minute: a name
/// that is missing from `--allow-host` must be found in the log, and no client may fill the log.
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
