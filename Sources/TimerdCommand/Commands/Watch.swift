import ArgumentParser

/// `timerd watch`.
struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Follow the events of one timer or of all.",
        discussion: """
            Goes on until the timer is deleted, --limit is reached or Ctrl-C. When the connection is lost it comes \
            back by itself and goes on behind the last event shown: none is missed, none is shown twice. `timerd events` \
            shows what there was, and ends.

              timerd watch
              timerd watch tea
              timerd watch --type fired --label team=blue --json | jq -c .payload
              timerd watch tea --since 0
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id; without it, every timer's events.", completion: Completions.timers) var id: String?
    @Option(help: ArgumentHelp("The timer's id, as a flag", valueName: "id"), completion: Completions.timers)
    var timer: String?
    @Option(help: ArgumentHelp("Begin behind this event id; 0: with the oldest kept", valueName: "id"))
    var since: String?
    @OptionGroup var filter: EventFilter

    func run() throws {
        guard id == nil || timer == nil else {
            throw Failure(.usage, "the id stands twice: as an argument and by --timer")
        }
        let query = try filter.query(id: id ?? timer)
        let follower = EventFollower(try client.client(), query, since: since, limit: filter.limit) {
            [client] line, event in
            client.json ? Console.out(bytes: line + [0x0a]) : Console.out(TimerText.event(event))
        }
        try follower.run()
    }
}
