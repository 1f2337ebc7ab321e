import ArgumentParser

/// The flags that select the events that a command shows, and their number.
struct EventFilter: ParsableArguments {
    @Option(help: ArgumentHelp("Only events of these types", valueName: "type,…"), completion: Completions.eventTypes)
    var type: String?
    @Option(help: ArgumentHelp("Only of timers with this label; may repeat", valueName: "key=value"))
    var label: [String] = []
    @Option(help: ArgumentHelp("End after so many events", valueName: "n")) var limit: Int?

    /// Returns the query for the events of a timer, or of all timers where `id` is nil.
    ///
    /// - Throws: `usage` where the limit is below 1.
    func query(id: String?) throws(Failure) -> EventQuery {
        if let limit, limit < 1 { throw Failure(.usage, "--limit \(limit): expected 1 or more") }
        return EventQuery(id: id, types: type, labels: label)
    }
}
