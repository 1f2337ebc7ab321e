import TestSupport
import Testing

@testable import Platform

struct GuardedTests {
    @Test func `changes by many threads are all kept`() throws {
        let count = Guarded(0)
        let threads = (0..<8).map { _ in Background { for _ in 0..<1000 { count.withLock { $0 += 1 } } } }
        for thread in threads { try thread.finish("has counted") }
        #expect(count.withLock { $0 } == 8000)
    }

    @Test func `a waiting thread goes on after the update it needs`() throws {
        let state = Guarded<[Int]>([])
        let got = Guarded<Int?>(nil)
        let taker = Background {
            let value = state.wait { $0.count < 2 ? nil : $0.removeFirst() }
            got.withLock { $0 = value }
        }
        state.update { $0.append(1) }
        try eventually("the first was not enough") { state.lock.sleepers == 1 }
        #expect(got.value == nil)
        state.update { $0.append(2) }
        try taker.finish("has taken one")
        #expect(got.value == 1)
    }

    @Test func `a wait with an end returns nil when nothing came`() {
        let state = Guarded(0)
        #expect(state.wait(nanoseconds: 1) { $0 > 0 ? $0 : nil } == nil)
        state.update { $0 = 7 }
        #expect(state.wait(nanoseconds: 0) { $0 > 0 ? $0 : nil } == 7)
    }

    @Test func `an error leaves the lock free`() {
        let state = Guarded(0)
        #expect(throws: TimedOut.self) {
            try state.withLock { (_: inout Int) throws(TimedOut) in throw TimedOut(description: "") }
        }
        #expect(state.withLock { $0 } == 0)
    }
}
