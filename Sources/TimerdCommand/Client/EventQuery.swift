/// Which events are wanted.
struct EventQuery {
    /// A timer's id; nil for all timers.
    let id: String?
    /// Types between commas; nil for all.
    let types: String?
    /// Labels, each `key=value`; all must match.
    let labels: [String]

    /// The target of a stream that begins behind `since`.
    ///
    /// - Parameter isLast: only what is kept. A timer that is gone has no stream of its own any more, so this one is of
    ///   all timers: the caller picks.
    func target(since: String?, isLast: Bool) -> String {
        var target = isLast ? RequestTarget("v1", "events") : base
        add(to: &target, since: since)
        if isLast { target.add("follow", "false") }
        return target.text
    }

    /// The target of what is kept behind `since`, which ends there.
    func target(since: String, limit: Int?) -> String {
        var target = base
        add(to: &target, since: since)
        target.add("limit", limit.map(String.init))
        target.add("follow", "false")
        return target.text
    }

    private var base: RequestTarget {
        id.map { RequestTarget("v1", "timers", $0, "events") } ?? RequestTarget("v1", "events")
    }

    private func add(to target: inout RequestTarget, since: String?) {
        target.add("types", types)
        for label in labels { target.add("label", label) }
        target.add("since", since)
    }
}
