import HTTPServer
import TimerLog

/// Adds what the other servers have counted to what this one has.
final class StatsGathering: Gathering {
    let scope: PartitionScope
    private var stats: ServerStats

    /// - Parameters:
    ///   - scope: the partitions of the other servers.
    ///   - own: of this server.
    init(_ scope: PartitionScope, own: ServerStats) {
        self.scope = scope
        stats = own
    }

    func add(_ answer: PartAnswer, for scope: PartitionScope) -> Bool {
        guard let other = CountReader(answer.body) else { return false }
        return stats.add(other)
    }

    func fill(_ ticket: Ticket) {
        ticket.exchange.response.add("Content-Type", "application/json")
        ticket.exchange.response.body = stats.text
    }
}
