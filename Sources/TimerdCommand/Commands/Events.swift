import ArgumentParser

/// `timerd events`.
struct Events: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the events that are kept, of one timer or of all.",
        discussion: """
            From the oldest to the newest, then it ends; `timerd watch` goes on with what comes. A deleted timer's events are \
            kept for a while too.

              timerd events --timer tea
              timerd events --since 1927624203398283269 --type fired,cancelled
              timerd events --label team=blue --json | jq -r .id | tail -1
            """)

    @OptionGroup var client: ClientOptions
    @Option(help: ArgumentHelp("Only this timer's", valueName: "id"), completion: Completions.timers) var timer: String?
    @Option(help: ArgumentHelp("Begin behind this event id, else with the oldest kept", valueName: "id"))
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
