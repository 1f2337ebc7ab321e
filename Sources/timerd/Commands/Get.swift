import ArgumentParser
import HTTPClient

/// `timerd get`.
struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a timer.",
        discussion: """
              timerd get tea
              timerd get tea --json | jq .remaining
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id.") var id: String

    func run() throws {
        let response = try client.client().send(HTTPRequest(.get, RequestTarget("v1", "timers", id).text))
        if client.json {
            Console.out(bytes: response.body + [0x0a])
        } else {
            Console.out(TimerText.details(try JSONObject(response)))
        }
    }
}
