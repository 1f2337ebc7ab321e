import WireJSON

/// How many timers or deliveries a bulk request changed.
struct BulkCounts: Equatable {
    /// How many the selector matched.
    var matched = 0
    /// How many were changed.
    var changed = 0
    /// How many could not be changed: the action was not legal for them.
    var skipped = 0

    /// The counts as JSON.
    func write(_ json: inout JSONWriter) {
        json.beginObject()
        json.member("matched", Int64(matched))
        json.member("changed", Int64(changed))
        json.member("skipped", Int64(skipped))
        json.endObject()
    }
}
