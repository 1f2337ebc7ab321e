import ArgumentParser
import HTTPClient

/// `timerd delete`.
struct Delete: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete a timer, in any state.",
        discussion: """
              timerd delete tea
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id.") var id: String

    func run() throws {
        _ = try client.client().send(HTTPRequest(.delete, RequestTarget("v1", "timers", id).text))
        if !client.json { Console.out(Printable.text("\(id): deleted")) }
    }
}
