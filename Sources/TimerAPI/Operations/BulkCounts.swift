import WireJSON

/// The numbers of timers or deliveries that a bulk request matched, changed and skipped.
struct BulkCounts: Equatable {
    /// The number that the selector matched.
    var matched = 0
    /// The number that were changed.
    var changed = 0
    /// The number that could not be changed: the action was not legal for them.
    var skipped = 0

    /// Writes the counts as a JSON object.
    func write(_ json: inout JSONWriter) {
        json.beginObject()
        json.member("matched", Int64(matched))
        json.member("changed", Int64(changed))
        json.member("skipped", Int64(skipped))
        json.endObject()
    }
}
