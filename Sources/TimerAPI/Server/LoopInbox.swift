import HTTPServer
import Platform
import TimerLog
import TimerService

/// The messages of other threads for a loop; each one wakes it.
final class LoopInbox: Sendable {
    enum Message: Sendable {
        /// Rows that a stream asked for.
        case rows(stream: UInt64, Result<StoredRows, StoreError>)
        /// The history that a request for a timer's events asked for.
        case history(ticket: UInt64, Result<Replayer.History, StoreError>)
        /// Whether the log holds the id that a request for events named.
        case idCheck(ticket: UInt64, Result<Bool, StoreError>)
        /// Whether a stream that was asked for has an event to show.
        case probe(ticket: UInt64, hasEvent: Bool)
        /// The parts of a stored answer; nil for a part that is no longer stored.
        case storedAnswer(ticket: UInt64, Result<[StoredAnswer?], StoreError>)
        /// The events of deliveries; nil for one that is no longer stored.
        case deliveryEvents(ticket: UInt64, Result<[OwedEvent?], StoreError>)
        /// The end of a test of a webhook.
        case webhookTest(ticket: UInt64, WebhookTestEnd)
        /// The end of a hand-over.
        case handOver(ticket: UInt64, HandOverOutcome)
        /// Lines of an export.
        case exported(export: UInt64, Result<Replayer.ExportedDeliveries, StoreError>)
    }

    private let messages = Guarded<[Message]>([])
    private let loop: Loop

    init(_ loop: Loop) { self.loop = loop }

    /// Adds a message and wakes the loop. May be called on any thread.
    func post(_ message: Message) {
        messages.withLock { $0.append(message) }
        loop.wake()
    }

    /// Wakes the loop. May be called on any thread.
    func wake() { loop.wake() }

    /// Removes and returns all messages.
    func take() -> [Message] {
        messages.withLock { messages in
            let taken = messages
            messages.removeAll()
            return taken
        }
    }
}
