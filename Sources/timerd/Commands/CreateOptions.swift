import ArgumentParser
import WireJSON

/// A field of the body that `timerd create` sends. What its value may be is for the server to say.
struct BodyField {
    private enum Value {
        case text(String)
        case number(Int64)
        case yes
    }

    private let name: StaticString
    private let value: Value?

    init(_ name: StaticString, _ text: String?) {
        self.name = name
        value = text.map(Value.text)
    }

    init(_ name: StaticString, _ number: Int64?) {
        self.name = name
        value = number.map(Value.number)
    }

    init(_ name: StaticString, _ flag: Bool) {
        self.name = name
        value = flag ? .yes : nil
    }

    /// Whether the command line names it.
    var isGiven: Bool { value != nil }

    /// Writes the member, if the command line names it.
    func write(to writer: inout JSONWriter) {
        guard let value else { return }
        writer.key(name)
        switch value {
        case .text(let text): writer.string(text)
        case .number(let number): writer.integer(number)
        case .yes: writer.bool(true)
        }
    }
}

/// When a timer fires.
struct ScheduleOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Once, that long after activation", valueName: "duration")) var after: String?
    @Option(help: ArgumentHelp("Once, at this RFC 3339 instant", valueName: "instant")) var at: String?
    @Option(help: ArgumentHelp("Again and again, that far apart", valueName: "duration")) var every: String?
    @Option(help: ArgumentHelp("When a cron expression says so", valueName: "cron")) var cron: String?
    @Option(help: ArgumentHelp("For --cron: an IANA name such as Europe/Berlin; UTC without it", valueName: "name"))
    var timeZone: String?
    @Option(help: ArgumentHelp("For --cron: not before this instant", valueName: "instant")) var from: String?
    @Option(help: ArgumentHelp("When it is not kicked for that long", valueName: "duration")) var watchdog: String?
    @Option(help: ArgumentHelp("For --watchdog: after so many silent periods", valueName: "n")) var misses: Int64?
    @Flag(help: "For --watchdog: again after each further silent period.") var repeatAlarm = false
    @Option(help: ArgumentHelp("For --every: fixedRate keeps the grid, fixedDelay counts from the fire"))
    var mode: String?
    @Option(help: ArgumentHelp("What it counts by: wall, continuous or suspending")) var clock: String?

    /// Whether anything says when it fires.
    var isGiven: Bool { [after, at, every, cron, watchdog].contains { $0 != nil } }

    var fields: [BodyField] {
        [
            BodyField("after", after), BodyField("at", at), BodyField("every", every), BodyField("cron", cron),
            BodyField("timeZone", timeZone), BodyField("from", from), BodyField("watchdog", watchdog),
            BodyField("misses", misses), BodyField("repeatAlarm", repeatAlarm), BodyField("mode", mode),
            BodyField("clock", clock),
        ]
    }
}

/// How a timer behaves beside its schedule.
struct PolicyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("When it starts to run: now, manual, or with its first subscriber")) var start: String?
    @Option(help: "When it is suspended by itself: subscriber, once its last one has left.") var stop: String?
    @Flag(help: "Idle until it is activated: --start manual.") var manual = false
    @Option(help: ArgumentHelp("May be that late, to share a wake-up", valueName: "duration")) var leeway: String?
    @Option(help: ArgumentHelp("Delay each fire by up to that, evenly spread", valueName: "duration")) var jitter:
        String?
    @Option(help: ArgumentHelp("What a pause does: remaining, deadline or skip")) var onResume: String?
    @Option(help: ArgumentHelp("What an outage does: once, all or skip")) var misfire: String?
    @Option(help: ArgumentHelp("Drop what was missed longer ago", valueName: "duration")) var misfireGrace: String?
    @Option(help: ArgumentHelp("Complete after so many fires", valueName: "n")) var maxFires: Int64?
    @Option(help: ArgumentHelp("No fire is due after this instant", valueName: "instant")) var until: String?
    @Flag(help: "It can be activated again once it ended.") var restartable = false
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
