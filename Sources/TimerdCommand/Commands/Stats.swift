import ArgumentParser
import HTTPClient

/// `timerd stats`.
struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show at a glance what a server holds and does.",
        discussion: """
            Counts since the server's start, but for what it holds now. `/metrics` has more.

              timerd stats
              timerd stats --json | jq .timers.running
            """)

    @OptionGroup var client: ClientOptions

    func run() throws {
        let response = try client.client().send(HTTPRequest(.get, RequestTarget("v1", "stats").text))
        try client.print(response, StatsText.lines)
    }
}

/// The statistics of a server as a person reads them.
enum StatsText {
    /// Returns a line for each concern.
    static func lines(_ stats: JSONObject) -> String {
        let timers = stats.object("timers")?.members ?? []
        let count = timers.reduce(0) { $0 &+ (Int($1.text) ?? 0) }
        let states = timers.filter { $0.text != "0" }.map { "\($0.text) \($0.name)" }.joined(separator: ", ")
        let uptime = stats["uptime"].map(ShortTime.duration) ?? "?"
        let drain = stats["drained"] == "true" ? ", drained" : ""
        let lines: [(String, String)] = [
            ("server", "timerd \(stats["version"] ?? "?"), up \(uptime)\(drain)"),
            ("timers", "\(count)" + (states.isEmpty ? "" : ": \(states)")),
            ("fires", stats["fires"] ?? "?"),
            ("events", "\(stats["events"] ?? "?"), newest \(stats["eventId"] ?? "?")"),
            ("streams", stats["streams"] ?? "?"),
            ("deliveries", "\(stats["pendingDeliveries"] ?? "?") pending, \(stats["deadDeliveries"] ?? "?") dead"),
            ("idempotency", stats["idempotencyKeys"].map { "\($0) keys" } ?? "?"),
            ("log", size(stats["logBytes"])),
            ("memory", size(stats["residentBytes"])),
        ]
        return lines.map { Printable.text(TextTable.padded($0, 13) + $1) }.joined(separator: "\n")
    }

    private static func size(_ bytes: String?) -> String {
        bytes.flatMap { Int64($0) }.map { max(0, $0) }.map(ShortSize.text) ?? "?"
    }
}
