package import TimerCore

/// A delivery as a fold must restore it. The log holds no record of an attempt under way.
package struct DeliveryCopy: Equatable {
    package var hash: UInt32
    package var belongs: Bool
    package var state: DeliveryState
    package var attempts: Int
    package var body: Int64
    package var lastAttempt: LastAttempt?
    package var will: DeliveryWill?
    package var reason: EventReason
    /// Whether an attempt is under way; not compared, as the log does not hold that.
    package var isUnderWay: Bool

    package init(_ detail: DeliveryDetail, hash: UInt32) {
        isUnderWay = detail.state == .inFlight
        self.hash = hash
        belongs = detail.slot != nil
        // A delivery whose wait is over counts as waiting: only clocks tell the two apart.
        attempts = detail.attempts - (isUnderWay ? 1 : 0)
        state = detail.state == .dead ? .dead : attempts > 0 ? .waiting : .pending
        body = detail.body
        lastAttempt = detail.lastAttempt
        will = detail.will
        reason = detail.reason
    }

    package static func == (left: DeliveryCopy, right: DeliveryCopy) -> Bool {
        (left.hash, left.belongs, left.state, left.attempts, left.body)
            == (right.hash, right.belongs, right.state, right.attempts, right.body)
            && left.reason == right.reason && left.lastAttempt == right.lastAttempt && left.will == right.will
    }
}
