import ArgumentParser

/// The flags for the schedule of a timer: when it fires.
struct ScheduleOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Once, that long after activation", valueName: "duration")) var after: String?
    @Option(help: ArgumentHelp("Once, at this RFC 3339 instant", valueName: "instant")) var at: String?
    @Option(help: ArgumentHelp("Again and again, that far apart", valueName: "duration")) var every: String?
    @Option(help: ArgumentHelp("When a cron expression says so", valueName: "cron")) var cron: String?
    @Option(
        help: ArgumentHelp(
            "For --cron, and for --every with --at: an IANA name such as Europe/Berlin; UTC without it",
            valueName: "name"))
    var timeZone: String?
    @Option(help: ArgumentHelp("For --cron: not before this instant", valueName: "instant")) var from: String?
    @Option(
        help: ArgumentHelp(
            "When it is not kicked for that long; with --cron, for that long after an instant of it",
            valueName: "duration"))
    var watchdog: String?
    @Option(help: ArgumentHelp("For --watchdog: after so many silent periods", valueName: "n")) var misses: Int64?
    @Flag(help: "For --watchdog: again after each further silent period.") var repeatAlarm = false
    @Option(
        help: ArgumentHelp("For --every: fixedRate keeps the grid, fixedDelay counts from the fire"),
        completion: Completions.modes)
    var mode: String?
    @Option(help: ArgumentHelp("What it counts by: wall, continuous or suspending"), completion: Completions.clocks)
    var clock: String?

    /// Whether a flag says when the timer fires.
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
