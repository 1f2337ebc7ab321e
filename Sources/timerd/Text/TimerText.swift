/// Timers as a person reads them.
enum TimerText {
    /// One line: `tea: running, next fire 2026-11-21T09:04:00.000Z (in 4m)`.
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

    /// Every member that says something, a line each.
    static func details(_ timer: JSONObject) -> String {
        let members = timer.members.filter { !["{}", "[]"].contains($0.text) }
        let width = members.map(\.name.count).max() ?? 0
        return members.map { member in
            let text = member.name == "webhook" ? timer.object("webhook").map(webhook) ?? member.text : member.text
            return Printable.text(TextTable.padded(member.name, width) + "  " + text)
        }.joined(separator: "\n")
    }

    /// What a person asks of a webhook first: `POST https://hooks.example/timers (fired, cancelled), stopped`.
    private static func webhook(_ webhook: JSONObject) -> String {
        let types = webhook.strings("types").joined(separator: ", ")
        return "\(webhook["method"] ?? "?") \(webhook["url"] ?? "?") (\(types))"
            + (webhook["stopped"] == "true" ? ", stopped" : "")
    }

    /// A timer a row.
    static func table(_ timers: [JSONObject]) -> String {
        TextTable.text(
            ["ID", "STATE", "KIND", "NEXT FIRE", "REMAINING", "FIRES", "LABELS"],
            timers.map { timer in
                [
                    timer["id"], timer["state"], timer["kind"], timer["nextFireAt"], timer["remaining"],
                    timer["fireCount"], timer["labels"].flatMap { $0 == "{}" ? nil : $0 },
                ]
            })
    }

    /// One line: `2026-11-21T09:04:00.000Z  fired  tea  fire=1 reason=due latenessUs=112`.
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
