import ArgumentParser
import HTTPClient
import WireJSON

/// `timerd create`.
struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create a timer.",
        discussion: """
            Say when it fires with --after, --at, --every (which may stand beside --after or --at for its first \
            fire), --cron or --watchdog, or give the whole body with --body. --payload and --body take JSON, @file or \
            - for standard input.

              timerd create tea --after 4m --payload '{"cup": "blue"}'
              timerd create --at 2030-01-01T00:00:00Z
              timerd create beat --every 10s --max-fires 6 --label team=blue
              timerd create --every 1h --webhook https://hooks.example/timers
              timerd create --cron '0 9 * * MON-FRI' --time-zone Europe/Berlin
              timerd create worker-7 --watchdog 30s --misses 2 && timerd kick worker-7
              timerd create backup --watchdog 1h --cron '0 3 * * *' --time-zone Europe/Berlin
              timerd create later --after 1h --manual && timerd activate later
              timerd create --body '{"every": "1m", "after": "0s", "mode": "fixedDelay"}'
              timerd create --body @timer.json
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup(title: "When it fires") var schedule: ScheduleOptions
    @OptionGroup(title: "How it behaves") var policy: PolicyOptions
    @Argument(help: ArgumentHelp("The id; without it the server makes one", valueName: "id")) var name: String?
    @Option(help: "The id, as a flag.") var id: String?
    @Option(help: ArgumentHelp("A label; may repeat", valueName: "key=value")) var label: [String] = []
    @Option(help: ArgumentHelp("Any JSON, shown in the events", valueName: "json|@file|-")) var payload: String?
    @Option(help: ArgumentHelp("Where its fires are posted to; --body has all a webhook can be", valueName: "url"))
    var webhook: String?
    @Option(help: ArgumentHelp("The whole body, instead of the options above", valueName: "json|@file|-"))
    var body: String?

    func run() throws {
        let body = try content()
        try client.printTimer(.post(RequestTarget("v1", "timers").text, json: body), by: client.client())
    }

    private func content() throws(Failure) -> [UInt8] {
        guard name == nil || id == nil else {
            throw Failure(.usage, "the id stands twice: \(name ?? "") and --id \(id ?? "")")
        }
        let ownID = BodyField("id", name ?? id)
        let fields = [BodyField("webhook", webhook)] + schedule.fields + (try policy.fields())
        guard let body else {
            guard schedule.isGiven else {
                throw Failure(.usage, "create needs one of --after, --at, --every, --cron, --watchdog or --body")
            }
            return try written([ownID] + fields)
        }
        guard !fields.contains(where: \.isGiven), label.isEmpty, payload == nil else {
            throw Failure(.usage, "--body stands alone but for the id: it is the whole of the timer")
        }
        return Self.naming(try JSONText.read(body, flag: "--body"), ownID)
    }

    /// Returns `body` with the id in it. The server refuses a body that has one already, or is no object.
    private static func naming(_ body: [UInt8], _ id: BodyField) -> [UInt8] {
        guard id.isGiven, body.first == UInt8(ascii: "{") else { return body }
        var writer = JSONWriter()
        writer.beginObject()
        id.write(to: &writer)
        let rest = body.dropFirst()
        return writer.bytes + (rest.first == UInt8(ascii: "}") ? [] : [UInt8(ascii: ",")]) + rest
    }

    private func written(_ fields: [BodyField]) throws(Failure) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for field in fields { field.write(to: &writer) }
        if !label.isEmpty { try LabelText.write(label, to: &writer) }
        if let payload {
            writer.key("payload")
            writer.raw(try JSONText.read(payload, flag: "--payload"))
        }
        writer.endObject()
        return writer.bytes
    }
}
