import ArgumentParser
import HTTPClient
import WireJSON

/// `timerd create`.
struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create a timer.",
        discussion: """
            Say when it fires with --after, --at, --every (also beside --after or --at, for its first \
            fire), --cron, --rrule or --watchdog, or give the whole body with --body. --payload and --body take JSON, @file or \
            - for standard input.

              timerd create tea --after 4m --payload '{"cup": "blue"}'
              timerd create --at 2030-01-01T00:00:00Z
              timerd create beat --every 10s --max-fires 6 --label team=blue
              timerd create --every 1h --webhook https://hooks.example/timers
              timerd create --cron '0 9 * * MON-FRI' --time-zone Europe/Berlin
              timerd create planning --rrule 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO' \\
                --from 2030-01-07T09:00:00Z
              timerd create ticket-7 --after 8h --clock working --calendar berlin
              timerd create worker-7 --watchdog 30s --misses 2 && timerd kick worker-7
              timerd create dump --watchdog 1h --cron '0 3 * * *' --time-zone Europe/Oslo
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
    @Option(help: ArgumentHelp("The URL of its webhook; --body has all options of one", valueName: "url"))
    var webhook: String?
    @Option(help: ArgumentHelp("The whole body, instead of the options above", valueName: "json|@file|-"))
    var body: String?

    func run() throws {
        let body = try content()
        try client.printTimer(.post(RequestTarget("v1", "timers").text, json: body), by: client.client())
    }

    private func content() throws(Failure) -> [UInt8] {
        guard name == nil || id == nil else {
            throw Failure(.usage, "the id is given twice: \(name ?? "") and --id \(id ?? "")")
        }
        let ownID = BodyField("id", name ?? id)
        let fields = [BodyField("webhook", webhook)] + schedule.fields + (try policy.fields())
        guard let body else {
            guard schedule.isGiven else {
                throw Failure(
                    .usage, "create needs one of --after, --at, --every, --cron, --rrule, --watchdog or --body")
            }
            return try written([ownID] + fields)
        }
        guard !fields.contains(where: \.isGiven), label.isEmpty, payload == nil else {
            throw Failure(.usage, "--body goes with nothing but the id: it is the whole of the timer")
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
        try JSONWriter.object { (writer) throws(Failure) in
            for field in fields { field.write(to: &writer) }
            if !label.isEmpty { try LabelText.write(label, to: &writer) }
            if let payload {
                writer.key("payload")
                writer.raw(try JSONText.read(payload, flag: "--payload"))
            }
        }
    }
}

/// The flags for the schedule of a timer: when it fires.
struct ScheduleOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Once, that long after activation", valueName: "duration")) var after: String?
    @Option(help: ArgumentHelp("Once, at this RFC 3339 instant", valueName: "instant")) var at: String?
    @Option(help: ArgumentHelp("Again and again, that far apart", valueName: "duration")) var every: String?
    @Option(help: ArgumentHelp("When a cron expression says so", valueName: "cron")) var cron: String?
    @Option(help: ArgumentHelp("When a recurrence rule of RFC 5545 says so", valueName: "rule")) var rrule: String?
    @Option(
        help: ArgumentHelp(
            "For --cron, --rrule, and --every with --at: an IANA name such as Europe/Berlin; UTC without it",
            valueName: "name"))
    var timeZone: String?
    @Option(
        help: ArgumentHelp(
            "For --cron: not before this instant; for --rrule: it repeats itself from there, else from now",
            valueName: "instant"))
    var from: String?
    @Option(
        help: ArgumentHelp(
            "When it is not kicked for that long; with --cron or --rrule, for that long after an instant of it",
            valueName: "duration"))
    var watchdog: String?
    @Option(help: ArgumentHelp("For --watchdog: after so many silent periods", valueName: "n")) var misses: Int64?
    @Flag(help: "For --watchdog: again after each further silent period.") var repeatAlarm = false
    @Option(
        help: ArgumentHelp("For --every: fixedRate keeps the grid, fixedDelay counts from the fire"),
        completion: Completions.modes)
    var mode: String?
    @Option(
        help: ArgumentHelp("The clock: wall, continuous, suspending, or working, the open time of --calendar"),
        completion: Completions.clocks)
    var clock: String?
    @Option(
        help: ArgumentHelp("The calendar whose open time counts, or shapes the instants", valueName: "name"),
        completion: Completions.calendars)
    var calendar: String?
    @Option(
        help: ArgumentHelp(
            "For --calendar: an instant in closed time is left out, or moved: skip, next, nextDay, previousDay"),
        completion: Completions.closedPolicies)
    var onClosed: String?

    /// Whether a flag says when the timer fires.
    var isGiven: Bool { [after, at, every, cron, rrule, watchdog].contains { $0 != nil } }

    var fields: [BodyField] {
        [
            BodyField("after", after), BodyField("at", at), BodyField("every", every), BodyField("cron", cron),
            BodyField("rrule", rrule), BodyField("timeZone", timeZone), BodyField("from", from),
            BodyField("watchdog", watchdog), BodyField("misses", misses), BodyField("repeatAlarm", repeatAlarm),
            BodyField("mode", mode), BodyField("clock", clock), BodyField("calendar", calendar),
            BodyField("onClosed", onClosed),
        ]
    }
}

/// The flags for the behaviour of a timer besides its schedule.
struct PolicyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("When it starts to run: now, manual, or with its first subscriber"),
        completion: Completions.starts)
    var start: String?
    @Option(
        help: "When it is suspended by itself: subscriber, once its last one has left.", completion: Completions.stops)
    var stop: String?
    @Flag(help: "Idle until it is activated: --start manual.") var manual = false
    @Option(help: ArgumentHelp("May be that late, to share a wake-up", valueName: "duration")) var leeway: String?
    @Option(help: ArgumentHelp("Delay each fire by up to that, evenly spread", valueName: "duration")) var jitter:
        String?
    @Option(help: ArgumentHelp("The effect of a pause: remaining, deadline or skip"), completion: Completions.resumes)
    var onResume: String?
    @Option(help: ArgumentHelp("The effect of an outage: once, all or skip"), completion: Completions.misfires)
    var misfire: String?
    @Option(help: ArgumentHelp("Drop what was missed longer ago", valueName: "duration")) var misfireGrace: String?
    @Option(help: ArgumentHelp("Complete after so many fires", valueName: "n")) var maxFires: Int64?
    @Option(help: ArgumentHelp("No fire is due after this instant", valueName: "instant")) var until: String?
    @Flag(help: "The timer can be activated again once it ended.") var restartable = false
    @Option(help: ArgumentHelp("How long it can be read once it ended", valueName: "duration")) var retain: String?

    func fields() throws(Failure) -> [BodyField] {
        guard !manual || start == nil else { throw Failure(.usage, "--manual is --start manual: give one of them") }
        return [
            BodyField("start", manual ? "manual" : start), BodyField("stop", stop), BodyField("leeway", leeway),
            BodyField("jitter", jitter),
            BodyField("onResume", onResume), BodyField("misfire", misfire), BodyField("misfireGrace", misfireGrace),
            BodyField("maxFires", maxFires), BodyField("until", until), BodyField("restartable", restartable),
            BodyField("retain", retain),
        ]
    }
}
