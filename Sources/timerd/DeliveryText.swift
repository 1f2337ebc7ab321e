/// Deliveries as a person reads them.
enum DeliveryText {
    /// One line: `1927624203398283269: pending, fired of tea`.
    static func line(_ delivery: Answer) -> String {
        let what = "\(delivery["type"] ?? "?") of \(delivery["timer"] ?? "?")"
        return Printable.text("\(delivery["id"] ?? "?"): \(delivery["state"] ?? "?"), \(what)")
    }

    /// A delivery a row. `NEXT` is when it is attempted again, or forgotten.
    static func table(_ deliveries: [Answer]) -> String {
        TextTable.text(
            ["ID", "STATE", "TIMER", "EVENT", "AT", "ATTEMPTS", "REASON", "STATUS", "NEXT"],
            deliveries.map { delivery in
                [
                    delivery["id"], delivery["state"], delivery["timer"], delivery["type"], delivery["at"],
                    delivery["attempts"], delivery["reason"], delivery["lastStatus"],
                    delivery["nextAttemptAt"] ?? delivery["expiresAt"],
                ]
            })
    }
}
