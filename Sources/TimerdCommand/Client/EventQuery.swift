/// A selection of events.
struct EventQuery {
    /// The id of a timer; nil for all timers.
    let id: String?
    /// Types between commas; nil for all.
    let types: String?
    /// Labels, each `key=value`; all must match.
    let labels: [String]

    /// Returns the target of a stream that begins after `since`.
    ///
    /// - Parameter isLast: whether only the kept events are wanted. A deleted timer no longer has a stream of its
    ///   own, so the target is that of all timers, and the caller picks the timer's events.
    func target(since: String?, isLast: Bool) -> String {
        var target = isLast ? RequestTarget("v1", "events") : base
        add(to: &target, since: since)
        if isLast { target.add("follow", "false") }
        return target.text
    }

    /// Returns the target of the events that are kept after `since`; the answer ends with them.
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
