import ArgumentParser
import HTTPClient
import WireJSON

/// `timerd reschedule`.
struct Reschedule: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Move the next fire of timers.",
        discussion: """
            Legal for running and suspended timers. A repeating one goes on from the new instant.

              timerd reschedule tea --after 30s
              timerd reschedule tea --at 2030-01-01T00:00:00Z
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id; may repeat.", completion: Completions.timers) var id: [String]
    @Option(help: ArgumentHelp("That long from now", valueName: "duration")) var after: String?
    @Option(help: ArgumentHelp("At this RFC 3339 instant", valueName: "instant")) var at: String?

    func run() throws {
        guard (after == nil) != (at == nil) else {
            throw Failure(.usage, "reschedule needs one of --after and --at")
        }
        let body = Self.body(after: after, at: at)
        let service = try client.client()
        try EachID.run(id) { (id) throws(Failure) in
            let target = RequestTarget("v1", "timers", id, "reschedule")
            try client.printTimer(.post(target.text, json: body), by: service)
        }
    }

    private static func body(after: String?, at: String?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        BodyField("after", after).write(to: &writer)
        BodyField("at", at).write(to: &writer)
        writer.endObject()
        return writer.bytes
    }
}
