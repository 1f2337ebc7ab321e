internal import Synchronization

/// The session under which a process appends: a new one after the last was ended. May be used on any thread.
final class SessionNumber: Sendable {
    private let number: Atomic<Int64>

    init(_ number: Int64) { self.number = Atomic(number) }

    /// The number of the current session.
    var value: Int64 { number.load(ordering: .acquiring) }

    /// Sets the session. Returns whether it differs from the one before.
    func begin(_ number: Int64) -> Bool { self.number.exchange(number, ordering: .acquiringAndReleasing) != number }
}
