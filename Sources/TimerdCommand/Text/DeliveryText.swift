/// Deliveries as a person reads them.
enum DeliveryText {
    /// Returns one line: `1927624203398283269: pending, fired of tea`.
    static func line(_ delivery: JSONObject) -> String {
        let what = "\(delivery["type"] ?? "?") of \(delivery["timer"] ?? "?")"
        return Printable.text("\(delivery["id"] ?? "?"): \(delivery["state"] ?? "?"), \(what)")
    }

    /// The columns of a list of deliveries, and how it fits a narrow terminal.
    ///
    /// `WHY` is why the last attempt failed, and of a dead letter why there is no further one; `LAST` is when that
    /// attempt was, `NEXT` when the next one is or, of a dead letter, when it is forgotten.
    static let table = TextTable(
        titles: ["ID", "STATE", "TIMER", "EVENT", "AT", "TRIES", "WHY", "LAST", "NEXT"],
        narrowings: [.drop("AT"), .cut("TIMER", to: 12), .drop("EVENT"), .drop("TRIES"), .cut("WHY", to: 12)])

    /// Returns a delivery's row in `table`, with instants as seen from `now`, in wall milliseconds.
    static func row(_ delivery: JSONObject, now: Int64) -> [TextTable.Cell] {
        func distance(_ instant: String?) -> String? { instant.map { ShortTime.distance($0, now: now) } }
        let next = distance(delivery["nextAttemptAt"]) ?? distance(delivery["expiresAt"]).map { "gone \($0)" }
        return [
            .init(delivery["id"]), .init(delivery["state"], Colour(state: delivery["state"])), .init(delivery["timer"]),
            .init(delivery["type"]), .init(delivery["at"].map(ShortTime.second)), .init(delivery["attempts"]),
            .init(why(delivery)), .init(distance(delivery["lastAttemptAt"])), .init(next),
        ]
    }

    /// Returns why the last attempt failed, and why it was the last: `status 503`, `timeout, backlog`.
    private static func why(_ delivery: JSONObject) -> String? {
        var parts = [delivery["error"].map { "\($0)" + (delivery["lastStatus"].map { " \($0)" } ?? "") }]
        // The reason `attempts` is left out: a dead letter's attempts have all failed, and TRIES counts them.
        parts.append(delivery["reason"].flatMap { $0 == "attempts" ? nil : $0 })
        parts.append(delivery["timerDeleted"] == "true" ? "timer deleted" : nil)
        let text = parts.compactMap(\.self).joined(separator: ", ")
        return text.isEmpty ? nil : text
    }
}
