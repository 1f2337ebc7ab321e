import TestSupport
import Testing
import TimerLog

@testable import TimerService

struct ActiveLogTests {
    @Test func `a client that has seen all that was deleted has no gap, wherever the next record stands`() throws {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        for name in ["a", "b", "c"] {
            try rig.create(name)
            try rig.settle()
            rig.time.pass(milliseconds: 1)
        }
        let log = try rows(of: store)
        #expect(try store.delete(upTo: log[0].last) > 0)
        rig.stop()
        let again = try Rig(store, time: rig.time)
        #expect(again.log.oldestKept > log[0].last + 1)
        #expect(again.log.horizon == log[0].last)
        again.stop()
    }

    @Test func `a log that is whole begins right before its first record`() throws {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        try rig.create("a")
        try rig.settle()
        rig.stop()
        let again = try Rig(store, time: rig.time)
        #expect(again.log.horizon == (try rows(of: store)[0].first) - 1)
        again.stop()
    }
}
