import ArgumentParser
import HTTPClient
import Platform

/// `timerd get`.
struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show timers, each with all that it is.",
        discussion: """
              timerd get tea
              timerd get tea --json | jq .remaining
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id; may repeat.", completion: Completions.timers) var id: [String]

    func run() throws {
        let service = try client.client()
        try EachID.run(id) { (id) throws(Failure) in
            let response = try service.send(HTTPRequest(.get, RequestTarget("v1", "timers", id).text))
            try client.print(response) { TimerText.details($0) + (self.id.count > 1 ? "\n" : "") }
        }
    }
}

/// `timerd next`.
struct Next: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the next fires of a timer.",
        discussion: """
            Before leeway and jitter, from the code that fires. A timer that is not running has none, nor has a plain \
            watchdog; a watchdog with a schedule has the instants at which a kick is expected. `timerd preview` shows \
            them for a cron expression, without a server.

              timerd next standup
              timerd next standup --count 3 --json | jq -r '.fires[]'
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id.", completion: Completions.timers) var id: String
    @Option(help: ArgumentHelp("How many fires at most, 1 to 1000, default 10", valueName: "n")) var count: String?

    func run() throws {
        var target = RequestTarget("v1", "timers", id, "next")
        target.add("count", count)
        let response = try client.client().send(HTTPRequest(.get, target.text))
        if client.json {
            Console.out(bytes: response.body + [0x0a])
            return
        }
        let fires = try JSONObject(response).strings("fires")
        guard !fires.isEmpty else { return Console.error("\(Printable.text(id)): no fire is planned") }
        let now = Clocks.realtime() / 1_000_000
        for fire in fires {
            guard Console.out(Printable.text("\(fire)  \(ShortTime.distance(fire, now: now))")) else { return }
        }
    }
}
