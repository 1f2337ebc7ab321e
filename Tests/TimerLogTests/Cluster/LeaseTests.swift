import Synchronization
import Testing
import TimerLog

struct LeaseTests {
    private final class Boottime: Sendable {
        let value = Atomic<Int64>(100)
    }

    @Test func `a lease lasts until its end, which is never brought forward`() {
        let clock = Boottime()
        let lease = Lease { clock.value.load(ordering: .relaxed) }
        #expect(!lease.isValid)
        lease.extend(until: 150, promised: 7)
        lease.extend(until: 120, promised: 5)
        #expect(lease.remaining == 50 && lease.promised == 7)
        clock.value.store(149, ordering: .relaxed)
        #expect(lease.isValid)
        clock.value.store(150, ordering: .relaxed)
        #expect(!lease.isValid)
    }

    @Test func `a revoked lease is over, and can be extended again`() {
        let lease = Lease { 100 }
        lease.extend(until: 150, promised: 7)
        lease.revoke()
        #expect(!lease.isValid && lease.promised == 0)
        lease.extend(until: 110, promised: 3)
        #expect(lease.isValid && lease.promised == 3)
    }
}
