import TestSupport
import Testing

@testable import Platform

struct LockTests {
    private let lock = Lock()

    @Test(arguments: [1, 5])
    func `threads that want the lock are counted until they have it`(_ count: Int) throws {
        lock.lock()
        let threads = (0..<count).map { _ in Background { [lock] in lock.withLock {} } }
        try eventually("all want it") { lock.waiters == count }
        lock.unlock()
        for thread in threads { try thread.finish("has had it") }
        #expect(lock.waiters == 0)
    }

    @Test(arguments: [1, 5])
    func `sleepers want the lock from the signal on`(_ count: Int) throws {
        let asleep = Guarded(0)
        let threads = (0..<count).map { _ in
            Background { [lock] in
                lock.withLock {
                    asleep.withLock { $0 += 1 }
                    lock.wait()
                }
            }
        }
        // Each thread counts itself under the lock, which only its sleep releases.
        try eventually("all sleep") { lock.withLock { asleep.value == count } }
        lock.lock()
        #expect(lock.waiters == 0)
        lock.broadcast()
        #expect(lock.waiters == count)
        lock.broadcast()
        #expect(lock.waiters == count)
        lock.unlock()
        for thread in threads { try thread.finish("woke") }
        #expect(lock.waiters == 0)
    }

    @Test func `a sleep that ends by itself leaves nothing to be woken`() {
        lock.withLock {
            #expect(!lock.wait(nanoseconds: 1))
            lock.broadcast()
        }
        #expect(lock.waiters == 0)
    }

    @Test func `a thread that yields takes the lock again, with a waiting thread and without`() throws {
        lock.yield()
        lock.lock()
        let other = Background { [lock] in lock.withLock {} }
        try eventually("it is wanted") { lock.waiters == 1 }
        lock.yield()
        lock.unlock()
        try other.finish("has had it")
    }
}
