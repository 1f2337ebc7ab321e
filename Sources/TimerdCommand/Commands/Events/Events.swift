import ArgumentParser
import HTTPClient

/// `timerd events`.
struct Events: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the events that are kept, of one timer or of all.",
        discussion: """
            From the oldest to the newest, then it ends; `timerd watch` goes on with new events. A deleted timer's \
            events are kept for a while too.

              timerd events --timer tea
              timerd events --since 1927624203398283269 --type fired,cancelled
              timerd events --label team=blue --json | jq -r .id | tail -1
            """)

    @OptionGroup var client: ClientOptions
    @Option(help: ArgumentHelp("Only this timer's", valueName: "id"), completion: Completions.timers) var timer: String?
    @Option(help: ArgumentHelp("Begin after this event id, else with the oldest kept", valueName: "id"))
    var since = "0"
    @OptionGroup var filter: EventFilter

    func run() throws {
        let history = try EventHistory(filter.query(id: timer), since: since, limit: filter.limit)
        try history.read(client.client()) { [json = client.json] line in
            if json { return Console.out(bytes: line + [0x0a]) }
            guard let event = JSONObject(line) else { return Console.out(bytes: line + [0x0a]) }
            return Console.out(TimerText.event(event))
        }
    }
}

/// The flags that select the events that a command shows, and their number.
struct EventFilter: ParsableArguments {
    @Option(help: ArgumentHelp("Only events of these types", valueName: "type,…"), completion: Completions.eventTypes)
    var type: String?
    @Option(help: ArgumentHelp("Only of timers with this label; may repeat", valueName: "key=value"))
    var label: [String] = []
    @Option(help: ArgumentHelp("End after so many events", valueName: "n")) var limit: Int?

    /// Returns the query for the events of a timer, or of all timers where `id` is nil.
    ///
    /// - Throws: `usage` where the limit is below 1, or a label is not `key=value`.
    func query(id: String?) throws(Failure) -> EventQuery {
        if let limit, limit < 1 { throw Failure(.usage, "--limit \(limit): expected 1 or more") }
        try LabelText.check(label)
        return EventQuery(id: id, types: type, labels: label)
    }
}

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

/// The events that are kept, read once from the oldest to the newest.
struct EventHistory {
    private let query: EventQuery
    private let since: String
    private let limit: Int?

    /// - Parameters:
    ///   - since: the id after which to begin; `0` to begin with the oldest kept event.
    ///   - limit: the number of events after which to end.
    init(_ query: EventQuery, since: String, limit: Int?) {
        self.query = query
        self.since = since
        self.limit = limit
    }

    /// Reads the events and passes each line to `show`, which returns false to end.
    ///
    /// - Throws: where the server refuses, or the connection is lost.
    func read(_ client: ServiceClient, show: @escaping ([UInt8]) -> Bool) throws(Failure) {
        let request = HTTPRequest(
            .get, query.target(since: since, limit: limit), headers: [("Accept", "application/x-ndjson")])
        var partial: [UInt8] = []
        var isEnded = false
        let response: HTTPResponse
        do throws(HTTPClientError) {
            response = try client.stream(
                request, silenceSeconds: EventFollower.silenceSeconds, onHead: { _ in true },
                onBytes: { bytes in
                    partial += bytes
                    var start = partial.startIndex
                    while let end = partial[start...].firstIndex(of: 0x0a) {
                        // An empty line is a heartbeat.
                        if end > start, !show(Array(partial[start..<end])) {
                            isEnded = true
                            return false
                        }
                        start = end + 1
                    }
                    partial.removeFirst(start)
                    return partial.count <= EventFollower.lineLimit
                })
        } catch {
            throw Failure(error)
        }
        guard response.status == 200 else { throw Failure(response) }
        guard partial.isEmpty || isEnded else { throw Failure(.other, "the server sent a part of a line") }
    }
}
