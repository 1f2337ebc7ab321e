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
    /// - Parameter isLast: only what is kept, also of a timer that is gone.
    func target(since: String?, isLast: Bool) -> String {
        var target: RequestTarget
        if let id, !isLast {
            target = RequestTarget("v1", "timers", id, "events")
        } else {
            target = RequestTarget("v1", "events")
            target.add("timer", id)
        }
        target.add("types", types)
        for label in labels { target.add("label", label) }
        target.add("since", since)
        if isLast { target.add("follow", "false") }
        return target.text
    }
}
