import ArgumentParser
import HTTPClient

/// `timerd deliveries drop`.
struct DeliveryDrop: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Remove deliveries: they are not attempted again.",
        discussion: """
              timerd deliveries drop 1927624203398283269
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The delivery's id; may repeat.", completion: Completions.deliveries) var id: [String]

    func run() throws {
        let service = try client.client()
        try EachID.run(id) { (id) throws(Failure) in
            _ = try service.send(HTTPRequest(.delete, RequestTarget("v1", "deliveries", id).text))
            if !client.json { Console.out(Printable.text("\(id): dropped")) }
        }
    }
}
