import ArgumentParser
import HTTPClient
import TimerCore
import WireJSON

/// `timerd bulk`.
struct Bulk: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Do one thing to every timer with some labels, in some states.",
        discussion: """
            If --label and --state are both given, both must match. Timers for which the command is illegal, or that \
            it leaves as they are, are skipped. Each timer is one step, the whole is not.

              timerd bulk suspend --label team=blue --dry-run
              timerd bulk cancel --label team=blue --state running,suspended
              timerd bulk reschedule --label ticket=42 --after 10m
              timerd bulk delete --state completed
            """)

    /// The actions of `timerd bulk`: every command, and deleting.
    static let actions = TimerCommand.allCases.map { "\($0.name)" } + ["delete"]

    @OptionGroup var client: ClientOptions
    @Argument(
        help: ArgumentHelp("One of: \(actions.joined(separator: ", "))", valueName: "command"),
        completion: Completions.actions)
    var action: String
    @Option(help: ArgumentHelp("Only with this label; may repeat", valueName: "key=value")) var label: [String] = []
    @Option(help: ArgumentHelp("Only in these states", valueName: "state,…"), completion: Completions.states)
    var state: String?
    @Option(help: ArgumentHelp("For reschedule: that long from now", valueName: "duration")) var after: String?
    @Option(help: ArgumentHelp("For reschedule: at this RFC 3339 instant", valueName: "instant")) var at: String?
    @Flag(help: "Only count them.") var dryRun = false

    func run() throws {
        guard Self.actions.contains(action) else {
            let meant = Suggestion.phrase(for: action, among: Self.actions)
            throw Failure(.usage, "there is no bulk command `\(Printable.text(action))`" + meant)
        }
        guard state != nil || !label.isEmpty else { throw Failure(.usage, "bulk needs --label, --state or both") }
        guard (after != nil) != (at != nil) || action != "\(TimerCommand.reschedule.name)" else {
            throw Failure(.usage, "bulk reschedule needs one of --after and --at")
        }
        var target = RequestTarget("v1", "timers", "bulk", action)
        target.add("dryRun", dryRun ? "true" : nil)
        let response = try client.client().send(.post(target.text, json: body()))
        try client.print(response) { counts in
            let done = dryRun ? "would change" : "changed"
            return Printable.text(
                "\(counts["matched"] ?? "?") matched, \(counts["changed"] ?? "?") \(done), "
                    + "\(counts["skipped"] ?? "?") skipped")
        }
    }

    private func body() throws(Failure) -> [UInt8] {
        try JSONWriter.object { (writer) throws(Failure) in
            if !label.isEmpty { try LabelText.write(label, to: &writer) }
            if let state {
                writer.beginArray("states")
                for state in state.split(separator: ",") { writer.string(String(state)) }
                writer.endArray()
            }
            BodyField("after", after).write(to: &writer)
            BodyField("at", at).write(to: &writer)
        }
    }
}
