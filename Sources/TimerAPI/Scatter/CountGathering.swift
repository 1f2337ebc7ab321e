import HTTPServer
import TimerLog
import WireJSON

/// Adds up the counts of a bulk command, or of a redrive of many.
final class CountGathering: Gathering {
    let scope: PartitionScope
    /// The sum so far.
    private(set) var counts = BulkCounts()
    /// Whether every part so far was told before.
    private var isReplay = true

    init(_ scope: PartitionScope) { self.scope = scope }

    func add(_ answer: PartAnswer, for scope: PartitionScope) -> Bool {
        guard let numbers = CountReader(answer.body), let matched = numbers.integer("matched"),
            let changed = numbers.integer("changed"), let skipped = numbers.integer("skipped")
        else { return false }
        counts = counts + BulkCounts(matched: matched, changed: changed, skipped: skipped)
        if !answer.isReplay { isReplay = false }
        return true
    }

    func fill(_ ticket: Ticket) {
        var json = JSONWriter()
        counts.write(&json)
        if isReplay { ticket.exchange.response.add("Idempotency-Replayed", "true") }
        ticket.exchange.response.add("Content-Type", "application/json")
        ticket.exchange.response.body = json.bytes
    }
}
