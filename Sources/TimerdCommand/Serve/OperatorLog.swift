import Logging
import Platform
import TimerAPI
import TimerCluster
import TimerLog
import TimerService

/// Writes to the log what an operator should know.
final class OperatorLog: Sendable {
    private struct State {
        /// The events before the server was up, at most `heldEvents`; nil once they are written. A start that fails
        /// writes one line, with its reason.
        var held: [ServiceEvent]? = []
        /// Whether a thread writes the held events.
        var isOpening = false
        /// The last time at which each reason of a continuing failure was written, on the monotonic clock.
        var told: [String: Int64] = [:]
        /// Whether a storage failure was written, and its end was not.
        var isFailing = false
    }

    let logger: Logger
    private let state = Guarded(State())
    /// The most events that are held: with more of them the start takes so long that an operator should know why.
    static let heldEvents = 64
    /// Nanoseconds between two lines about the same reason.
    private static let repeatPause: Int64 = 60_000_000_000
    /// Most reasons that are remembered; with more of them all are forgotten.
    private static let reasonsKept = 16

    /// Makes a log that writes to `logger`.
    init(_ logger: Logger) { self.logger = logger }

    /// Writes the events that were held, and from then on every event at once.
    ///
    /// Events that come meanwhile are held too, as far as there is room, so that none is written ahead of an older one.
    func open() {
        let isFirst = state.withLock { state in
            defer { state.isOpening = true }
            return !state.isOpening
        }
        guard isFirst else { return }
        while let events = takeHeld() {
            for event in events { tell(event) }
        }
    }

    /// Takes the events that are held; nil where there are none, and from then on no more are held.
    private func takeHeld() -> [ServiceEvent]? {
        state.withLock { state in
            guard let events = state.held, !events.isEmpty else {
                state.held = nil
                return nil
            }
            state.held = []
            return events
        }
    }

    /// Takes an event. May be called on any thread.
    var report: @Sendable (ServiceEvent) -> Void {
        { [self] event in
            let isHeld = state.withLock { state in
                guard let count = state.held?.count, count < Self.heldEvents else { return false }
                state.held?.append(event)
                return true
            }
            if isHeld { return }
            open()
            tell(event)
        }
    }

    /// Takes an event of the cluster. May be called on any thread.
    var reportCluster: @Sendable (ClusterEvent) -> Void { { [self] event in tell(event) } }

    /// Takes a request that was answered. May be called on any thread.
    var request: @Sendable (AccessRecord) -> Void {
        { [logger] record in
            logger.debug(
                "request",
                metadata: [
                    "method": "\(record.method)", "target": "\(record.target)",
                    "status": .stringConvertible(record.status),
                    "bytes": .stringConvertible(record.bytes), "ms": Self.milliseconds(record.seconds),
                    "peer": "\(record.peer)",
                    "requestId": "\(record.requestID)",
                ])
        }
    }

    private func tell(_ event: ServiceEvent) {
        switch event {
        case .recovered(let timers, let records, let seconds):
            logger.info(
                "the log is read",
                metadata: [
                    "timers": .stringConvertible(timers), "records": .stringConvertible(records),
                    "ms": Self.milliseconds(seconds),
                ])
        case .timeZonesChanged(let timers):
            logger.notice(
                "time zones have changed; timers were planned again",
                metadata: ["timers": .stringConvertible(timers)])
        case .appendFailed(let outcome): logFirstFailure(outcome)
        case .storageStillFailing(let error):
            logThrottled("storage still fails", "\(error)")
        case .logRefolded(let seconds):
            logger.notice("the log was read again", metadata: ["ms": Self.milliseconds(seconds)])
        case .storageRecovered:
            if endOutage() { logger.notice("storage works again; changes are taken") }
        case .rowsLost(let loss, let isOwner, let isAccepted):
            if isOwner { _ = endOutage() }
            let now = isOwner ? "nothing changes" : "should this server take the timers over, nothing will change"
            let consequence =
                isAccepted
                ? "--\(Setting.acceptLoss.flag) accepts that"
                : "\(now) before an operator says `timerd cluster accept-loss`"
            logger.error(
                "the database has lost rows that it had promised to keep; \(consequence)",
                metadata: ["after": "\(loss.after)", "through": "\(loss.through)"])
        case .fenced:
            _ = endOutage()
            logger.warning("another node has taken the timers over")
        case .loopStalled(let name, let seconds):
            logger.warning("a loop stands still", metadata: ["loop": "\(name)", "ms": Self.milliseconds(seconds)])
        case .receiverCommandRefused(let timer, let command):
            logger.notice(
                "a receiver's Timer-Command is not legal",
                metadata: [
                    "timer": "\(String(decoding: timer, as: UTF8.self))",
                    "command": "\(String(decoding: command, as: UTF8.self))",
                ])
        case .deliveryUnreadable(let error):
            logThrottled("an event could not be read for its delivery", "\(error)")
        case .eventsUnreadable(let error):
            logThrottled("old events could not be read for a stream", "\(error)")
        case .standbyFailing(let error):
            logThrottled("the log of the other server can't be read; it is tried again", "\(error)")
        case .standbyFoldsAgain(let cause): tell(cause)
        case .compactionFailed(let error):
            logThrottled("old rows could not be compacted", "\(error)")
        }
    }

    private func tell(_ cause: StandbyBreak) {
        let text = "this standby reads the log from its start again"
        switch cause {
        case .overtaken: logger.notice("\(text): rows that it had not read were compacted")
        case .condensed: logger.notice("\(text): rows that it had read in part were condensed")
        case .diverged: logger.warning("\(text): the database no longer has rows that it had read")
        }
    }

    /// Reports the first failure of an outage.
    private func logFirstFailure(_ outcome: AppendOutcome) {
        let isFirst = state.withLock { state in
            defer { state.isFailing = true }
            return !state.isFailing
        }
        guard isFirst else { return }
        logger.error("storage took no write; changes are refused until it does", metadata: Self.metadata(outcome))
    }

    /// Records that storage no longer fails, for whatever reason. Returns whether it failed before.
    private func endOutage() -> Bool {
        state.withLock { state in
            defer { (state.isFailing, state.told) = (false, [:]) }
            return state.isFailing
        }
    }

    /// Writes a failure of something that is tried several times a second: at once, then once a minute while the
    /// reason is the same.
    func logThrottled(_ message: Logger.Message, _ reason: String) {
        let isNews = state.withLock { state in
            let now = Clocks.monotonic()
            if let last = state.told[reason], now - last < Self.repeatPause { return false }
            if state.told.count >= Self.reasonsKept { state.told = [:] }
            state.told[reason] = now
            return true
        }
        if isNews { logger.error(message, metadata: ["reason": "\(reason)"]) }
    }

    private static func metadata(_ outcome: AppendOutcome) -> Logger.Metadata {
        switch outcome {
        case .durable: ["outcome": "durable"]
        case .absent(let error): ["outcome": "absent", "reason": "\(error)"]
        case .unknown(let error): ["outcome": "unknown", "reason": "\(error)"]
        case .diverged(let error): ["outcome": "diverged", "reason": "\(error)"]
        case .fenced: ["outcome": "fenced"]
        }
    }

    /// Returns milliseconds with three decimals.
    private static func milliseconds(_ seconds: Double) -> Logger.MetadataValue {
        .stringConvertible((seconds * 1e6).rounded() / 1e3)
    }
}

extension OperatorLog {
    func tell(_ event: ClusterEvent) {
        switch event {
        case .joined(let session):
            logger.info("joined the cluster", metadata: ["session": "\(session)"])
        case .ownedElsewhere(let owner):
            logger.notice("another node serves; this one stands by", metadata: ["owner": "\(owner)"])
        case .took: logger.notice("took the timers over")
        case .fenced: logger.warning("another node has taken the timers over")
        case .handedOver(let url): logger.notice("handed the timers over", metadata: ["to": "\(url)"])
        case .handOverFailed: logger.warning("the database did not confirm the hand-over of the timers")
        case .adoptionFailed(let error): logThrottled("the log can't be read; it is tried again", "\(error)")
        case .unreachable(let error):
            logThrottled("the database does not answer", "\(error)")
        case .leaseLost:
            logger.error("no beat has reached the database in time: nothing is answered until one does")
        case .leaseRegained:
            logger.notice("the database answers again; no other node has taken over")
        case .sessionEnded(let session):
            logger.warning(
                "another node saw no beat and has ended this session; the node drops everything and joins again",
                metadata: ["session": "\(session)"])
        case .sessionDropped(let session, let reason):
            logger.warning("the session is dropped", metadata: ["session": "\(session)", "reason": "\(reason)"])
        case .ended(let node):
            logger.warning(
                "a node's beats have stopped; its session is ended",
                metadata: ["node": "\(node.url)", "session": "\(node.session)"])
        case .connectionsEnded(let session, let count):
            logger.warning(
                "connections of an ended session held a take-over up and were closed",
                metadata: ["session": "\(session)", "connections": .stringConvertible(count)])
        case .skewed(let nanoseconds, let leaves):
            logger.warning(
                leaves
                    ? "the calendar is off, and those of the other nodes agree: this one releases the timers"
                    : "the calendar differs from the database's",
                metadata: ["ms": .stringConvertible(nanoseconds / 1_000_000)])
        case .skewGone:
            logger.notice("the calendar is right again")
        case .formatTooNew(let format):
            logger.error(
                "a newer version writes the log, in a format that this one does not read: it leaves the cluster, and ends",
                metadata: ["format": .stringConvertible(format)])
        }
    }
}
