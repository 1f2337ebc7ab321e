import ArgumentParser
import HTTPClient

/// `timerd stats`.
struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show at a glance what a server holds and does.",
        discussion: """
            Counts since the server's start, but for what it holds now. `/metrics` has more.

              timerd stats
              timerd stats --json | jq .timers.running
            """)

    @OptionGroup var client: ClientOptions

    func run() throws {
        let response = try client.client().send(HTTPRequest(.get, RequestTarget("v1", "stats").text))
        try client.print(response, StatsText.lines)
    }
}
