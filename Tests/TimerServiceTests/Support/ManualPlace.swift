import TimerLog

/// A process's place among others, as a test sets it.
final class ManualPlace: ClusterPlace {
    private static let start: Int64 = 1_000
    let lease = Lease { ManualPlace.start }
    var owner: String? { "http://other:1" }
    let map: ClusterMap? = nil
    let (takeovers, fenced) = (0, 0)

    init(isValid: Bool = true) { if isValid { renew() } }

    func handOver(to url: String?, _ ended: @escaping @Sendable (HandOverOutcome) -> Void) { ended(.failed) }

    func renew() { lease.extend(until: Self.start + 1) }
}
