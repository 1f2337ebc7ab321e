import TestSupport
import Testing

@testable import TimerLog
@testable import TimerService

/// The newest rows that a standby has in memory, once it takes over.
struct StandbyHubTests {
    private let store = MemoryLogStore()

    private func standby() throws -> ManualStandby { try ManualStandby(store, EngineConfiguration()) }

    private func rows() throws -> [LogRow] { try TestSupport.rows(of: store.makeFollower()) }

    /// Makes timers, each in a row of its own.
    private func create(_ ids: String..., payload: [UInt8] = [], on rig: Rig) throws {
        for id in ids {
            try rig.create(id, payload: payload)
            try rig.settle()
        }
    }

    /// Starts another server from what the standby has read, and returns its hub.
    private func hub(of standby: ManualStandby, after rig: Rig) throws -> EventHub {
        rig.stop()
        let next = try Rig(store, time: rig.time, from: try standby.end())
        next.stop()
        return next.log.hub
    }

    @Test func `after a take-over the rows are in memory that came since the log was read`() throws {
        let rig = try Rig(store)
        try create("a", "b", on: rig)
        let standby = try standby()
        #expect(try standby.round() == .ended)
        try create("c", on: rig)
        #expect(try standby.round() == .ended)
        try create("d", on: rig)
        let hub = try hub(of: standby, after: rig)
        let rows = try rows()
        #expect(hub.rows(after: rows[1].last)?.rows == Array(rows[2...]))
        #expect(!hub.holds(after: rows[0].last) && hub.head == rows[3].last)
    }

    @Test func `a condensed row is not kept in memory, nor one before it`() throws {
        let rig = try Rig(store)
        try create("a", on: rig)
        let standby = try standby()
        #expect(try standby.round() == .ended)
        try create("b", on: rig)
        #expect(try standby.round() == .ended)
        try create("c", "d", "e", on: rig)
        let all = try rows()
        try store.replace(with: [try #require(BatchRows.condense(Array(all[2...3]), restingOn: all[4].last))])
        let hub = try hub(of: standby, after: rig)
        #expect(standby.breaks == [:])
        #expect(hub.floor == all[3].last && hub.rows(after: all[3].last)?.rows == [all[4]])
    }

    @Test func `a fold that begins again keeps the rows after that alone`() throws {
        let rig = try Rig(store)
        try create("a", on: rig)
        let standby = try standby()
        #expect(try standby.round() == .ended)
        try create("b", "c", "d", on: rig)
        _ = try store.delete(upTo: rows()[2].last)
        #expect(try standby.round() == .broken(.overtaken))
        #expect(try standby.round() == .ended)
        try create("e", on: rig)
        let hub = try hub(of: standby, after: rig)
        #expect(hub.rows(after: try rows()[0].last)?.rows == [try rows()[1]])
        #expect(!hub.holds(after: try rows()[0].previous))
    }

    @Test func `while no rows come only a few of the newest stay in memory`() throws {
        let rig = try Rig(store)
        let standby = try standby()
        #expect(try standby.round() == .ended)
        let payload = Array("\"\(String(repeating: "x", count: RecentRows.restingBytes / 2))\"".utf8)
        try create("a", "b", "c", payload: payload, on: rig)
        #expect(try standby.round() == .ended)
        standby.forget(at: 0)
        let hub = try hub(of: standby, after: rig)
        // A large definition is a row of its own, before that of the event.
        #expect(try rows().count == 6)
        #expect(hub.floor == (try rows()[2].last))
    }
}
