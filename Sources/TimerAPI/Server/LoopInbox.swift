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
        /// The parts of a stored answer; nil for a part that is gone.
        case storedAnswer(ticket: UInt64, Result<[StoredAnswer?], StoreError>)
        /// The events of deliveries; nil for one that is gone.
        case deliveryEvents(ticket: UInt64, Result<[OwedEvent?], StoreError>)
        /// Lines of an export.
        case exported(export: UInt64, Result<Replayer.Departed, StoreError>)
    }

    private let messages = Guarded<[Message]>([])
    private let loop: Loop

    init(_ loop: Loop) { self.loop = loop }

    /// Leaves a message. Any thread.
    func post(_ message: Message) {
        messages.withLock { $0.append(message) }
        loop.wake()
    }

    /// Wakes the loop. Any thread.
    func wake() { loop.wake() }

    /// Takes out all messages.
    func take() -> [Message] {
        messages.withLock { messages in
            let taken = messages
            messages.removeAll()
            return taken
        }
    }
}
