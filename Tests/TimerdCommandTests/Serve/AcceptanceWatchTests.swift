import Glibc
import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerdCommand

struct AcceptanceWatchTests {
    /// The mark in a database, which may be out of reach, and the threads that read it, one for each time.
    private final class Marks: Sendable {
        let mark = Guarded<[UInt8]?>([0])
        let readers = Guarded<[pthread_t]>([])

        @Sendable func latest() throws(StoreError) -> [UInt8] {
            readers.withLock { $0.append(pthread_self()) }
            guard let mark = mark.withLock({ $0 }) else { throw StoreError(.unavailable, "out of reach") }
            return mark
        }
    }

    private let marks = Marks()
    private let watch = AcceptanceWatch(pause: 1_000_000)
    private let accepted = Guarded(0)

    private func begin() {
        let accepted = accepted
        watch.begin(reading: marks.latest) { accepted.withLock { $0 += 1 } }
    }

    @Test func `an acceptance after the loss is reported counts, however soon it comes`() throws {
        begin()
        #expect(marks.readers.withLock { $0.first } == pthread_self(), "it is not read before the loss is reported")
        marks.mark.withLock { $0 = [1] }
        try eventually("it is accepted") { accepted.withLock { $0 } == 1 }
    }

    @Test func `an acceptance that may be for an earlier loss does not count`() throws {
        marks.mark.withLock { $0 = nil }
        begin()
        marks.mark.withLock { $0 = [1] }
        let reads = marks.readers.withLock { $0.count }
        try eventually("it is read twice") { marks.readers.withLock { $0.count } >= reads + 2 }
        #expect(accepted.withLock { $0 } == 0)
        marks.mark.withLock { $0 = [2] }
        try eventually("it is accepted") { accepted.withLock { $0 } == 1 }
    }

    @Test func `each loss is accepted for itself`() throws {
        begin()
        marks.mark.withLock { $0 = [1] }
        try eventually("it is accepted") { accepted.withLock { $0 } == 1 }
        begin()
        marks.mark.withLock { $0 = [2] }
        try eventually("it is accepted again") { accepted.withLock { $0 } == 2 }
    }
}
