import TimerLog
import TimerService
import WireJSON

/// Drains the server, or takes that back: one partition after the other, each in one step.
final class DrainRun {
    private let scope: PartitionScope
    let isDrained: Bool
    /// The partition of the next step.
    private(set) var partition: Int
    /// Whether a step was taken.
    private(set) var hasBegun = false
    private var attemptsUnderWay = 0

    /// - Parameter scope: the partitions that it goes through, at least one.
    init(_ isDrained: Bool, _ scope: PartitionScope) {
        self.isDrained = isDrained
        self.scope = scope
        partition = scope.first() ?? 0
    }

    /// Does the next partition. Returns whether that was the last one.
    func step(_ turn: borrowing Turn) throws(ServiceError) -> Bool {
        try turn.setDrained(isDrained)
        attemptsUnderWay += turn.attemptsUnderWay
        guard let following = scope.next(after: partition) else { return true }
        partition = following
        hasBegun = true
        return false
    }

    /// The answer.
    var outcome: Outcome {
        .page(status: 200, type: "application/json", Self.text(isDrained, attemptsUnderWay: attemptsUnderWay))
    }

    /// The answer's JSON.
    static func text(_ isDrained: Bool, attemptsUnderWay: Int) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("drained", isDrained)
        json.member("attemptsUnderWay", Int64(attemptsUnderWay))
        json.endObject()
        return json.bytes
    }
}
