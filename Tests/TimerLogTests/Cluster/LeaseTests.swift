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
        lease.extend(until: 150)
        lease.extend(until: 120)
        #expect(lease.remaining == 50)
        clock.value.store(149, ordering: .relaxed)
        #expect(lease.isValid)
        clock.value.store(150, ordering: .relaxed)
        #expect(!lease.isValid)
    }

    @Test func `a revoked lease is over, and can be extended again`() {
        let lease = Lease { 100 }
        lease.extend(until: 150)
        lease.revoke()
        #expect(!lease.isValid)
        lease.extend(until: 110)
        #expect(lease.isValid)
    }
}
