import TimerLog
import TimerService
import WireJSON

/// Drains the server, or takes that back: one partition after the other, each in one step.
final class DrainRun {
    private let layout: PartitionLayout
    private let isDrained: Bool
    /// The partition of the next step.
    private(set) var partition = 0
    private var attemptsUnderWay = 0

    init(_ isDrained: Bool, _ layout: PartitionLayout) {
        self.isDrained = isDrained
        self.layout = layout
    }

    /// Does the next partition. Returns whether that was the last one.
    func step(_ turn: borrowing Turn) throws(ServiceError) -> Bool {
        try turn.setDrained(isDrained)
        attemptsUnderWay += turn.attemptsUnderWay
        if partition + 1 == layout.count { return true }
        partition += 1
        return false
    }

    /// The answer.
    var outcome: Outcome {
        var json = JSONWriter()
        json.beginObject()
        json.member("drained", isDrained)
        json.member("attemptsUnderWay", Int64(attemptsUnderWay))
        json.endObject()
        return .page(status: 200, type: "application/json", json.bytes)
    }
}
