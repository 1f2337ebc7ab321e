import ArgumentParser

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
    @Option(help: ArgumentHelp("What a pause does: remaining, deadline or skip"), completion: Completions.resumes)
    var onResume: String?
    @Option(help: ArgumentHelp("What an outage does: once, all or skip"), completion: Completions.misfires)
    var misfire: String?
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
