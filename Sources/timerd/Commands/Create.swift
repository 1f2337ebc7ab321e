import ArgumentParser
import HTTPClient
import WireJSON

/// `timerd create`.
struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create a timer.",
        discussion: """
            Say when it fires with --after, --at, --every (which may stand beside --after or --at for its first \
            fire), --cron or --watchdog, or give the whole body with --body.

              timerd create --id tea --after 4m --payload '{"cup": "blue"}'
              timerd create --at 2030-01-01T00:00:00Z
              timerd create --id beat --every 10s --max-fires 6 --label team=blue
              timerd create --every 1h --webhook https://hooks.example/timers
              timerd create --cron '0 9 * * MON-FRI' --time-zone Europe/Berlin
              timerd create --id worker-7 --watchdog 30s --misses 2 && timerd kick worker-7
              timerd create --id later --after 1h --manual && timerd activate later
              timerd create --body '{"every": "1m", "after": "0s", "mode": "fixedDelay"}'
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup(title: "When it fires") var schedule: ScheduleOptions
    @OptionGroup(title: "How it behaves") var policy: PolicyOptions
    @Option(help: "The id; without it the server makes one.") var id: String?
    @Option(help: ArgumentHelp("A label; may repeat", valueName: "key=value")) var label: [String] = []
    @Option(help: ArgumentHelp("Any JSON, shown in the events", valueName: "json")) var payload: String?
    @Option(help: ArgumentHelp("Where its fires are posted to; --body has all a webhook can be", valueName: "url"))
    var webhook: String?
    @Option(help: ArgumentHelp("The whole body, instead of the options above", valueName: "json")) var body: String?

    func run() throws {
        try client.printTimer(.post(RequestTarget("v1", "timers").text, json: content()))
    }

    private func content() throws(Failure) -> [UInt8] {
        let fields = [BodyField("id", id), BodyField("webhook", webhook)] + schedule.fields + (try policy.fields())
        guard let body else {
            guard schedule.isGiven else {
                throw Failure(.usage, "create needs one of --after, --at, --every, --cron, --watchdog or --body")
            }
            return try written(fields)
        }
        guard !fields.contains(where: \.isGiven), label.isEmpty, payload == nil else {
            throw Failure(.usage, "--body stands alone: it is the whole of the timer")
        }
        return try JSONText.compact(body, flag: "--body")
    }

    private func written(_ fields: [BodyField]) throws(Failure) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for field in fields { field.write(to: &writer) }
        if !label.isEmpty { try LabelText.write(label, to: &writer) }
        if let payload {
            writer.key("payload")
            writer.raw(try JSONText.compact(payload, flag: "--payload"))
        }
        writer.endObject()
        return writer.bytes
    }
}
