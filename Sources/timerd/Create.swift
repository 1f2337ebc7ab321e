import ArgumentParser
import HTTPClient
import WireJSON

/// `timerd create`.
struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create a timer.",
        discussion: """
            Say when it fires with --after, --at or --every (which may stand beside --after or --at for its first \
            fire), or give the whole body with --body.

              timerd create --id tea --after 4m --payload '{"cup": "blue"}'
              timerd create --at 2030-01-01T00:00:00Z
              timerd create --id beat --every 10s --max-fires 6 --label team=blue
              timerd create --id later --after 1h --manual && timerd activate later
              timerd create --body '{"every": "1m", "after": "0s", "mode": "fixedDelay"}'
            """)

    @OptionGroup var client: ClientOptions
    @Option(help: "The id; without it the server makes one.") var id: String?
    @Option(help: ArgumentHelp("Fire once, that long after activation", valueName: "duration")) var after: String?
    @Option(help: ArgumentHelp("Fire once, at this RFC 3339 instant", valueName: "instant")) var at: String?
    @Option(help: ArgumentHelp("Fire again and again, that far apart", valueName: "duration")) var every: String?
    @Option(help: ArgumentHelp("A label; may repeat", valueName: "key=value")) var label: [String] = []
    @Option(help: ArgumentHelp("Any JSON, shown in the events", valueName: "json")) var payload: String?
    @Option(help: ArgumentHelp("Complete after so many fires", valueName: "n")) var maxFires: Int64?
    @Flag(help: "Idle until it is activated.") var manual = false
    @Option(help: ArgumentHelp("The whole body, instead of the options above", valueName: "json")) var body: String?

    func run() throws {
        try client.printTimer(.post(RequestTarget("v1", "timers").text, json: content()))
    }

    private func content() throws(Failure) -> [UInt8] {
        let schedule = [after, at, every]
        guard let body else {
            guard schedule.contains(where: { $0 != nil }) else {
                throw Failure(.usage, "create needs one of --after, --at, --every or --body")
            }
            return try written()
        }
        let others = (schedule + [id, payload]).contains { $0 != nil } || !label.isEmpty || maxFires != nil || manual
        guard !others else { throw Failure(.usage, "--body stands alone: it is the whole of the timer") }
        return try JSONText.compact(body, flag: "--body")
    }

    private func written() throws(Failure) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        func write(_ key: StaticString, _ value: String?) {
            guard let value else { return }
            writer.key(key)
            writer.string(value)
        }
        write("id", id)
        write("after", after)
        write("at", at)
        write("every", every)
        if manual { write("start", "manual") }
        if let maxFires {
            writer.key("maxFires")
            writer.integer(maxFires)
        }
        if !label.isEmpty { try writeLabels(to: &writer) }
        if let payload {
            writer.key("payload")
            writer.raw(try JSONText.compact(payload, flag: "--payload"))
        }
        writer.endObject()
        return writer.bytes
    }

    private func writeLabels(to writer: inout JSONWriter) throws(Failure) {
        writer.key("labels")
        writer.beginObject()
        for text in label {
            guard let equals = text.firstIndex(of: "=") else {
                throw Failure(.usage, "--label \(text): expected key=value")
            }
            writer.key(bytes: Array(text[..<equals].utf8))
            writer.string(String(text[text.index(after: equals)...]))
        }
        writer.endObject()
    }
}
