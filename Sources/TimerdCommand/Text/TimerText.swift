/// Timers as a person reads them.
enum TimerText {
    /// Returns one line: `tea: running, next fire 2026-11-21T09:04:00.000Z (in 4m)`.
    static func line(_ timer: JSONObject) -> String {
        var line = "\(timer["id"] ?? "?"): \(timer["state"] ?? "?")"
        if let next = timer["nextFireAt"] { line += ", next fire \(next)" }
        if let remaining = timer["remaining"] {
            line += timer["nextFireAt"] == nil ? ", \(remaining) left" : " (in \(remaining))"
        }
        if timer["health"] == "stalled" { line += ", stalled" }
        if let fires = timer["fireCount"], fires != "0" { line += ", \(fires) fires" }
        return Printable.text(line)
    }

    /// Returns a line for each member that is not null or empty.
    static func details(_ timer: JSONObject) -> String {
        let members = timer.members.filter { !["{}", "[]"].contains($0.text) }
        let width = members.map(\.name.count).max() ?? 0
        return members.map { member in
            let text = member.name == "webhook" ? timer.object("webhook").map(webhook) ?? member.text : member.text
            return Printable.text(TextTable.padded(member.name, width) + "  " + text)
        }.joined(separator: "\n")
    }

    /// Returns the main facts of a webhook: `POST https://hooks.example/timers (fired, cancelled), stopped`.
    private static func webhook(_ webhook: JSONObject) -> String {
        let types = webhook.strings("types").joined(separator: ", ")
        return "\(webhook["method"] ?? "?") \(webhook["url"] ?? "?") (\(types))"
            + (webhook["stopped"] == "true" ? ", stopped" : "")
    }

    /// The columns of a list of timers, and how it fits a narrow terminal.
    static let table = TextTable(
        titles: ["ID", "STATE", "LEFT", "NEXT FIRE", "SCHEDULE", "FIRES", "LABELS"],
        narrowings: [
            .cut("LABELS", to: 12), .cut("SCHEDULE", to: 12), .drop("NEXT FIRE"), .drop("LABELS"), .drop("FIRES"),
            .cut("ID", to: 12), .drop("SCHEDULE"),
        ])

    /// Returns a timer's row in `table`.
    static func row(_ timer: JSONObject) -> [TextTable.Cell] {
        let state = timer["health"] == "stalled" ? "stalled" : timer["state"]
        return [
            .init(timer["id"]), .init(state, Colour(state: state)), .init(timer["remaining"].map(ShortTime.duration)),
            .init(timer["nextFireAt"].map(ShortTime.second)), .init(schedule(timer)), .init(timer["fireCount"]),
            .init(timer.object("labels").flatMap(labels)),
        ]
    }

    /// Returns the field that says when the timer fires: `every 10s`, `cron 0 9 * * MON-FRI`,
    /// `rrule FREQ=DAILY`.
    private static func schedule(_ timer: JSONObject) -> String? {
        let fields: [(String, String?)] = [
            ("every", timer["every"]), ("watchdog", watchdog(timer)), ("cron", timer["cron"]),
            ("rrule", timer["rrule"]), ("after", timer["after"]), ("at", timer["at"].map(ShortTime.second)),
        ]
        let calendar = timer["calendar"].map { ", \($0)" } ?? ""
        return fields.lazy.compactMap { name, value in value.map { "\(name) \($0)\(calendar)" } }.first
    }

    /// Returns the period of a watchdog, or its grace with the schedule: `1h, cron 0 3 * * *`.
    private static func watchdog(_ timer: JSONObject) -> String? {
        guard let period = timer["watchdog"] else { return nil }
        let named = ["cron", "rrule"].compactMap { name in timer[name].map { "\(period), \(name) \($0)" } }
        return named.first ?? period
    }

    private static func labels(_ labels: JSONObject) -> String? {
        let text = labels.members.map { "\($0.name)=\($0.text)" }.joined(separator: ",")
        return text.isEmpty ? nil : text
    }

    /// Returns one line: `2026-11-21T09:04:00.000Z  fired        tea  fire=1  reason=due  latenessUs=112`.
    static func event(_ event: JSONObject) -> String {
        var line = "\(event["at"] ?? "?")  \(TextTable.padded(event["type"] ?? "?", 11))  \(event["timer"] ?? "?")"
        let more: [(String, String?)] = [
            ("fire", event["fire"]), ("reason", event["reason"]), ("latenessUs", event["latenessUs"]),
            ("missed", event["missed"].flatMap { $0 == "0" ? nil : $0 }), ("stalledFor", event["stalledFor"]),
            ("silentFor", event["silentFor"]),
            ("payload", event["payload"]),
        ]
        for case (let name, let value?) in more { line += "  \(name)=\(value)" }
        return Printable.text(line)
    }
}
