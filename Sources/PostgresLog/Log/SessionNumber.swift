internal import Synchronization

/// The session under which a process appends: a new one where the last was ended. Any thread.
final class SessionNumber: Sendable {
    private let number: Atomic<Int64>

    init(_ number: Int64) { self.number = Atomic(number) }

    /// The number at present.
    var value: Int64 { number.load(ordering: .acquiring) }

    /// Begins another session. Returns whether it is another one.
    func begin(_ number: Int64) -> Bool { self.number.exchange(number, ordering: .acquiringAndReleasing) != number }
}
