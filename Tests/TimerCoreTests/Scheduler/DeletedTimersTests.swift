import Testing

@testable import TimerCore

struct DeletedTimersTests {
    @Test func `a name's newest deletion counts`() {
        var deleted = DeletedTimers()
        deleted.note(7, at: 1)
        deleted.note(8, at: 2)
        deleted.note(7, at: 3)
        #expect(deleted.lastEvent(7) == 3)
        #expect(deleted.lastEvent(8) == 2)
        #expect(deleted.lastEvent(9) == nil)
    }

    @Test func `the oldest is forgotten above the bound, unless its name was deleted again`() {
        var deleted = DeletedTimers()
        let capacity = Int64(DeletedTimers.capacity)
        for position in 0..<capacity { deleted.note(UInt64(position), at: position) }
        #expect(deleted.lastEvent(0) == 0)
        deleted.note(0, at: capacity)
        #expect(deleted.lastEvent(0) == capacity)
        #expect(deleted.lastEvent(1) == 1)
        deleted.note(UInt64(capacity), at: capacity + 1)
        #expect(deleted.lastEvent(1) == nil)
        #expect(deleted.lastEvent(0) == capacity)
    }
}
