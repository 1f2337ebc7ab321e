import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// The log of a partition that another process writes meanwhile.
struct FollowedLogTests {
    /// A partition in memory with `count` timers, a row each; the newest of them is changed last.
    private func rig(_ count: Int) throws -> (rig: Rig, store: MemoryLogStore) {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        for number in 0..<count {
            try rig.create("t\(number)")
            try rig.settle()
        }
        return (rig, store)
    }

    private func follow(_ store: MemoryLogStore, _ rig: Rig, isAhead: Bool = true) throws -> FollowedLog {
        FollowedLog(
            store, EngineConfiguration(), secret: try store.open().secret, hashPrefix: .none, isAhead: isAhead)
    }

    private func rows(_ store: MemoryLogStore) throws -> [LogRow] {
        var rows: [LogRow] = []
        try store.makeReader().read(from: 0) { row in
            rows.append(row)
            return true
        }
        return rows
    }

    @Test(arguments: [true, false])
    func `rows that come are read on, each once`(isAhead: Bool) throws {
        let (rig, store) = try rig(5)
        let log = try follow(store, rig, isAhead: isAhead)
        #expect(try log.readOn() == 5)
        #expect(try log.readOn() == 0)
        try rig.create("more")
        try rig.settle()
        #expect(try log.readOn() == 1 && log.head == rig.engine.durableHead)
        rig.stop()
    }

    @Test(arguments: [true, false])
    func `a reading ends when it is not wanted any more, and goes on later`(isAhead: Bool) throws {
        let (rig, store) = try rig(8)
        let log = try follow(store, rig, isAhead: isAhead)
        var asked = 0
        let first = try log.readOn {
            asked += 1
            return asked <= 3
        }
        #expect(first < 8)
        #expect(try first + log.readOn() == 8)
        rig.stop()
    }

    @Test func `rows that were read and have gone are counted no more`() throws {
        let (rig, store) = try rig(6)
        let log = try follow(store, rig)
        _ = try log.readOn()
        let all = try rows(store)
        #expect(try store.delete(upTo: all[3].last) > 0)
        let recovered = try log.recover()
        #expect(recovered.deletedThrough == all[3].last && recovered.oldest == all[4].first)
        #expect(recovered.head.last == all[5].last && log.head == 0, "it is handed over")
        rig.stop()
    }

    @Test func `where rows have gone that were to be read next, all is read anew`() throws {
        let (rig, store) = try rig(6)
        let log = try follow(store, rig)
        var asked = 0
        _ = try log.readOn {
            asked += 1
            return asked <= 2
        }
        let all = try rows(store)
        #expect(try store.delete(upTo: all[4].last) > 0)
        #expect(try log.readOn() == 1 && log.head == all[5].last)
        #expect(try log.recover().oldest == all[5].first)
        rig.stop()
    }

    @Test func `a log whose end was lost since it was read is not recovered from what was read`() throws {
        let volume = MemoryLogVolume(try #require(PartitionLayout(strided: 4)))
        let rig = try Rig(try #require(volume.store(1) as? MemoryLogStore))
        for number in 0..<3 {
            try rig.create("t\(number)")
            try rig.settle()
        }
        let store = try #require(volume.store(1) as? MemoryLogStore)
        let log = try follow(store, rig)
        _ = try log.readOn()
        volume.loseNewestRow(of: 1)
        #expect { _ = try log.recover() } throws: { ($0 as? StoreError)?.kind == .damaged }
        rig.stop()
    }

    @Test func `what is thrown away while it is read is read anew the next time`() throws {
        let (rig, store) = try rig(4)
        let logs = FollowedLogs()
        let made = try follow(store, rig, isAhead: false)
        let again = try follow(store, rig, isAhead: false)
        #expect(try logs.readOn(0) { made } == 4)
        logs.forget(0)
        #expect(try logs.readOn(0) { again } == 4)
        #expect(try logs.readOn(0) { made } == 0, "it goes on with the second one")
        #expect(logs.take(0) != nil && logs.take(0) == nil)
        rig.stop()
    }
}
