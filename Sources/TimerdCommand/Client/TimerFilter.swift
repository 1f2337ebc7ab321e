import ArgumentParser

/// The flags that select the timers of a list.
struct TimerFilter: ParsableArguments {
    @Option(help: ArgumentHelp("Only in these states", valueName: "state,…"), completion: Completions.states)
    var state: String?
    @Option(help: ArgumentHelp("Only of these kinds", valueName: "kind,…"), completion: Completions.kinds)
    var kind: String?
    @Option(help: ArgumentHelp("Only with this label; may repeat", valueName: "key=value")) var label: [String] = []
    @Option(
        help: ArgumentHelp("Only watchdogs that are ok, or stalled", valueName: "health"),
        completion: Completions.healths)
    var health: String?
    @Option(help: ArgumentHelp("Only ids that begin so", valueName: "text")) var idPrefix: String?

    /// Returns the target of the list of the selected timers.
    ///
    /// - Parameters:
    ///   - states: states between commas, instead of the filter's own.
    ///   - health: a health, instead of the filter's own.
    func target(states: String?, health: String?) -> RequestTarget {
        var target = RequestTarget("v1", "timers")
        target.add("state", states)
        target.add("kind", kind)
        for label in label { target.add("label", label) }
        target.add("health", health)
        target.add("idPrefix", idPrefix)
        return target
    }
}
