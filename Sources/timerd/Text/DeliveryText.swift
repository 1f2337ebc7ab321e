/// Deliveries as a person reads them.
enum DeliveryText {
    /// One line: `1927624203398283269: pending, fired of tea`.
    static func line(_ delivery: JSONObject) -> String {
        let what = "\(delivery["type"] ?? "?") of \(delivery["timer"] ?? "?")"
        return Printable.text("\(delivery["id"] ?? "?"): \(delivery["state"] ?? "?"), \(what)")
    }

    /// A delivery a row. `ERROR` is why the last attempt failed, `LAST` when; `NEXT` is when it is attempted again, or
    /// forgotten.
    static func table(_ deliveries: [JSONObject]) -> String {
        TextTable.text(
            ["ID", "STATE", "TIMER", "EVENT", "AT", "ATTEMPTS", "ERROR", "STATUS", "LAST", "REASON", "NEXT"],
            deliveries.map { delivery in
                [
                    delivery["id"], delivery["state"], delivery["timer"], delivery["type"], delivery["at"],
                    delivery["attempts"], delivery["error"], delivery["lastStatus"], delivery["lastAttemptAt"],
                    delivery["reason"],
                    delivery["nextAttemptAt"] ?? delivery["expiresAt"],
                ]
            })
    }
}
