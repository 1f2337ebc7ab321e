import Logging
import Platform
import TimerAPI
import TimerLog
import TimerService

/// Says in the log what an operator should hear of.
final class OperatorLog: @unchecked Sendable {  // unchecked: what is held is guarded by `lock`
    private let logger: Logger
    private let lock = Lock()
    /// What happened before the server was up; nil once it is. A start that fails says one line, why.
    private var held: [ServiceEvent]? = []
    /// The trouble that was told last, and when, by the monotonic clock.
    private var lastTrouble: (text: String, at: Int64)?

    /// Nanoseconds for which a trouble that is tried again and again is not told again.
    private static let troubleRest: Int64 = 10_000_000_000

    /// Writes to `logger`.
    init(_ logger: Logger) { self.logger = logger }

    /// Tells what was held, and from now on everything at once.
    func open() {
        let events = lock.withLock {
            defer { held = nil }
            return held ?? []
        }
        for event in events { tell(event) }
    }

    /// Takes an event; any thread.
    var report: @Sendable (ServiceEvent) -> Void {
        { [self] event in
            let isToldNow = lock.withLock {
                held?.append(event)
                return held == nil && isNews(event)
            }
            if isToldNow { tell(event) }
        }
    }

    /// Whether an event is more than the trouble that was told a moment ago. Called under the lock.
    private func isNews(_ event: ServiceEvent) -> Bool {
        switch event {
        case .storageStillFailing, .eventsUnreadable, .deliveryUnreadable, .compactionFailed: break
        default: return true
        }
        let (text, now) = ("\(event)", Clocks.monotonic())
        if let last = lastTrouble, last.text == text, now - last.at < Self.troubleRest { return false }
        lastTrouble = (text, now)
        return true
    }

    /// Takes a request that was answered; any thread.
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
                "time zones have changed; cron timers were planned anew",
                metadata: ["timers": .stringConvertible(timers)])
        case .appendFailed(let outcome):
            logger.error(
                "the disk took no write; changes are refused until it does", metadata: Self.metadata(outcome))
        case .storageStillFailing(let error):
            logger.error("storage still fails", metadata: ["reason": "\(error)"])
        case .storageRecovered:
            logger.notice("storage works again; changes are taken")
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
            logger.error("an event could not be read for its delivery", metadata: ["reason": "\(error)"])
        case .eventsUnreadable(let error):
            logger.error("old events could not be read for a stream", metadata: ["reason": "\(error)"])
        case .compactionFailed(let error):
            logger.error("old rows could not be compacted", metadata: ["reason": "\(error)"])
        }
    }

    private static func metadata(_ outcome: AppendOutcome) -> Logger.Metadata {
        switch outcome {
        case .durable: ["outcome": "durable"]
        case .absent(let error): ["outcome": "absent", "reason": "\(error)"]
        case .unknown(let error): ["outcome": "unknown", "reason": "\(error)"]
        case .fenced: ["outcome": "fenced"]
        }
    }

    /// Milliseconds with three decimals.
    private static func milliseconds(_ seconds: Double) -> Logger.MetadataValue {
        .stringConvertible((seconds * 1e6).rounded() / 1e3)
    }
}
