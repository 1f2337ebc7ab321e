import ArgumentParser
import HTTPClient

/// `timerd delete`.
struct Delete: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete timers, in any state.",
        discussion: """
              timerd delete tea
              timerd delete tea coffee
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id; may repeat.", completion: Completions.timers) var id: [String]

    func run() throws {
        let service = try client.client()
        try EachID.run(id) { (id) throws(Failure) in
            _ = try service.send(HTTPRequest(.delete, RequestTarget("v1", "timers", id).text))
            if !client.json { Console.out(Printable.text("\(id): deleted")) }
        }
    }
}
