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
        var target: RequestTarget
        if let id, !isLast {
            target = RequestTarget("v1", "timers", id, "events")
        } else {
            target = RequestTarget("v1", "events")
        }
        target.add("types", types)
        for label in labels { target.add("label", label) }
        target.add("since", since)
        if isLast { target.add("follow", "false") }
        return target.text
    }
}
