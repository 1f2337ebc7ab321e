import Platform
import TestSupport
import Testing

@testable import TimerdCommand

struct AcceptanceWatchTests {
    /// The number of looks, and of those after which nothing is waited for.
    private let looks = Guarded(0)
    private let needed = Guarded(1)
    private let watch = AcceptanceWatch(pause: 1_000_000)

    private func begin() {
        watch.begin { [looks, needed, watch] in
            let count = looks.withLock { count in
                count += 1
                return count
            }
            // Looks are under way.
            if count == 1 { watch.begin { true } }
            return needed.withLock { count >= $0 }
        }
    }

    @Test func `looks go on until nothing is waited for any more`() throws {
        needed.withLock { $0 = 3 }
        begin()
        try eventually("it looks three times") { looks.value == 3 }
        needed.withLock { $0 = 5 }
        begin()
        try eventually("a later loss is waited for") { looks.value == 5 }
    }

    @Test func `a loss that comes while the last one is accepted is waited for`() throws {
        let isLooking = Guarded(false)
        let isDone = Guarded(0)
        watch.begin {
            isLooking.update { $0 = true }
            // The second loss comes before the first look ends.
            isDone.wait { $0 > 0 ? () : nil }
            isDone.withLock { $0 += 1 }
            return true
        }
        isLooking.wait { $0 ? () : nil }
        watch.begin { true }
        isDone.update { $0 = 1 }
        try eventually("it looks again") { isDone.value == 3 }
    }
}
