import WireJSON

/// What came of a request that did one thing to many.
struct BulkCounts: Equatable {
    /// Those that the selector matched.
    var matched = 0
    /// Those it was done to.
    var changed = 0
    /// Those for which it was not legal.
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
