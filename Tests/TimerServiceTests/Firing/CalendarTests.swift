import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct CalendarTests {
    private let rig: Rig
    private let wall: Int64

    init() throws {
        rig = try Rig()
        wall = rig.engine.turn { $0.now.wall }
        try rig.create("at", TimerRules(.at(wall + 60_000)))
        try rig.create("after", TimerRules(.after(60_000)))
        rig.fire()
    }

    private func fires() throws -> [(EventReason, Int64)] {
        try rig.settle()
        return try rig.records().compactMap { record in
            guard case .event(.fired, let reason, let fire) = record.content else { return nil }
            return (reason, fire?.latenessUs ?? 0)
        }
    }

    /// The first to see a step of the calendar.
    enum Witness: CaseIterable { case fireLoop, client, committer }

    private func look(_ witness: Witness) {
        switch witness {
        case .fireLoop: break
        case .client: _ = rig.engine.turn { $0.count }
        case .committer: _ = rig.locked { $0.timeBase() }
        }
    }

    @Test(arguments: Witness.allCases)
    func `a step forward fires the instants it jumped, whichever thread sees it first`(_ witness: Witness) throws {
        rig.time.step(milliseconds: 90_000)
        look(witness)
        if witness != .fireLoop { #expect(rig.alarm.armed <= rig.time.boottime()) }
        rig.fire()
        let fires = try fires()
        #expect(fires.map(\.0) == [.misfire])
        #expect(fires.map(\.1) == [30_000_000])
        #expect(rig.live["after"]?.progress.state == .running)
        try rig.expectFoldIsLive()
    }

    @Test(arguments: Witness.allCases)
    func `a step back puts off what is due by the calendar alone`(_ witness: Witness) throws {
        rig.time.step(milliseconds: -90_000)
        look(witness)
        if witness != .fireLoop { #expect(rig.alarm.armed <= rig.time.boottime()) }
        rig.fire()
        rig.time.pass(milliseconds: 60_000)
        rig.fire()
        #expect(rig.live["at"]?.progress.state == .running)
        #expect(rig.live["after"]?.progress.state == .completed)
        rig.time.pass(milliseconds: 89_999)
        rig.fire()
        #expect(rig.live["at"]?.progress.state == .running)
        rig.time.pass(milliseconds: 1)
        rig.fire()
        let fires = try fires()
        #expect(fires.map(\.0) == [.due, .due])
        #expect(fires.map(\.1) == [0, 0])
        try rig.expectFoldIsLive()
    }

    @Test func `a step that storage's failing hides is followed when it works again`() throws {
        rig.locked { $0.storageFails = true }
        rig.time.step(milliseconds: 90_000)
        _ = rig.engine.turn { $0.count }
        rig.fire()
        rig.locked { $0.storageFails = false }
        rig.fire()
        #expect(try fires().map(\.0) == [.misfire])
    }

    @Test func `a past instant that is asked for is due at once, and no misfire`() throws {
        try rig.create("soon", TimerRules(.after(1002)))
        // The loop has slept for as long as it ever does.
        rig.time.pass(milliseconds: 999)
        try rig.create("past", TimerRules(.at(wall - 3_600_000)))
        #expect(rig.alarm.armed <= rig.time.boottime())
        rig.time.pass(milliseconds: 5)
        rig.fire()
        #expect(try fires().map(\.0) == [.due, .due])
    }

    @Test(arguments: [(Int64(900), EventReason.due), (1100, .misfire)])
    func `what came due while the loop stood still for over a second is a misfire`(
        _ milliseconds: Int64, _ reason: EventReason
    ) throws {
        rig.time.pass(milliseconds: 60_000 + milliseconds)
        rig.fire()
        #expect(try fires().map(\.0) == [reason, reason])
    }
}
