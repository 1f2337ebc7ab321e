import Platform
import TimerCluster

/// What this server has to say to others about partitions that change hands, until it is sent. Any thread.
final class PeerOutbox: Sendable {
    private let messages = Guarded<[(session: Int64, bytes: [UInt8])]>([])
    private let observers = Guarded<[@Sendable () -> Void]>([])

    /// Messages that wait at most; beyond them the oldest is lost, which does no harm.
    private static let most = 4096

    /// Adds a message that the session `sender` says to another one.
    func add(_ message: PeerMessage, from sender: Int64, to session: Int64) {
        messages.withLock { messages in
            if messages.count == Self.most { messages.removeFirst() }
            messages.append((session, message.bytes(from: sender)))
        }
        for observer in observers.withLock({ $0 }) { observer() }
    }

    /// Takes out all messages, in their order.
    func takeAll() -> [(session: Int64, bytes: [UInt8])] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }

    /// Calls `body` whenever there is something to say.
    func observe(_ body: @escaping @Sendable () -> Void) { observers.withLock { $0.append(body) } }
}
