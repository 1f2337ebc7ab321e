import ArgumentParser
import HTTPClient

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
