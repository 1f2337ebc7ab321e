import HTTPServer
import TimerLog

/// Adds up what a drain, or taking it back, found under way.
final class DrainGathering: Gathering {
    let scope: PartitionScope
    private let isDrained: Bool
    /// The sum so far.
    private(set) var attemptsUnderWay = 0

    init(_ scope: PartitionScope, isDrained: Bool) {
        self.scope = scope
        self.isDrained = isDrained
    }

    func add(_ answer: PartAnswer, for scope: PartitionScope) -> Bool {
        guard let attempts = CountReader(answer.body)?.integer("attemptsUnderWay") else { return false }
        attemptsUnderWay += attempts
        return true
    }

    func fill(_ ticket: Ticket) {
        ticket.exchange.response.add("Content-Type", "application/json")
        ticket.exchange.response.body = DrainRun.text(isDrained, attemptsUnderWay: attemptsUnderWay)
    }
}
