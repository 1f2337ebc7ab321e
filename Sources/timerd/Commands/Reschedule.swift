import ArgumentParser
import HTTPClient
import WireJSON

/// `timerd reschedule`.
struct Reschedule: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Move a timer's next fire.",
        discussion: """
            Legal for running and suspended timers. A repeating one goes on from the new instant.

              timerd reschedule tea --after 30s
              timerd reschedule tea --at 2030-01-01T00:00:00Z
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id.") var id: String
    @Option(help: ArgumentHelp("That long from now", valueName: "duration")) var after: String?
    @Option(help: ArgumentHelp("At this RFC 3339 instant", valueName: "instant")) var at: String?

    func run() throws {
        guard (after == nil) != (at == nil) else {
            throw Failure(.usage, "reschedule needs one of --after and --at")
        }
        var writer = JSONWriter()
        writer.beginObject()
        if let after {
            writer.key("after")
            writer.string(after)
        }
        if let at {
            writer.key("at")
            writer.string(at)
        }
        writer.endObject()
        try client.printTimer(.post(RequestTarget("v1", "timers", id, "reschedule").text, json: writer.bytes))
    }
}
