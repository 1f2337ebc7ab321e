import TestSupport
import Testing
import TimerCore
import WireJSON

@testable import TimerAPI
@testable import TimerService

/// The history of the server's figures.
struct StatsHistoryTests {
    private static let second: Int64 = 1_000_000_000

    /// Figures after so many seconds, of an owner of the log unless `ownership` is nil.
    private func figures(
        _ seconds: Int64, ownership: Int? = 0, requests: Int = 0, _ edit: (inout EngineCounters) -> Void = { _ in }
    ) -> StatsFigures {
        var figures = StatsFigures(monotonic: seconds * Self.second)
        figures.wall = seconds * 1000
        figures.ownership = ownership
        figures.requests = requests
        edit(&figures.counters)
        return figures
    }

    @Test func `the figures are asked for every ten seconds, once for all loops`() {
        let history = StatsHistory(startedAt: 5 * Self.second)
        let asked = (5...40).flatMap { second in
            (0..<2).compactMap { _ -> Int? in history.isDue(Int64(second) * Self.second) ? second : nil }
        }
        #expect(asked == [15, 25, 35])
        // A loop that looks late moves no later interval, but one after a stand-still.
        #expect(history.isDue(49 * Self.second))
        #expect(history.isDue(55 * Self.second))
        #expect(history.isDue(300 * Self.second))
        #expect(!history.isDue(309 * Self.second))
        #expect(history.isDue(310 * Self.second))
    }

    @Test func `a point says what happened since the one before, and what there is`() throws {
        let history = StatsHistory(startedAt: 0)
        #expect(history.points(minutes: 60, now: 0) == [])
        history.add(
            figures(10, requests: 7) { counters in
                counters.fires[0] = 2
                for _ in 0..<2 { counters.lateness.observe(0.0003) }
                counters.timers[Int(TimerState.running.rawValue)] = 5
                counters.deadDeliveries = 4
            })
        history.add(
            figures(20, requests: 10) { counters in
                counters.fires[0] = 2
                for _ in 0..<2 { counters.lateness.observe(0.0003) }
                counters.commitSeconds.observe(0.004)
                counters.attempts = [3, 1, 1, 0]
                counters.alarmingWatchdogs = 1
            })
        let points = history.points(minutes: 60, now: 20 * Self.second)
        try #require(points.count == 2)
        let first = points[0]
        #expect((first.at, first.durationMs, first.fires, first.requests) == (10_000, 10_000, 2, 7))
        #expect((first.latenessP50Us, first.latenessP99Us) == (300, 496))
        #expect((first.running, first.deadDeliveries, first.commits, first.commitP99Us) == (5, 4, 0, nil))
        let second = points[1]
        #expect((second.fires, second.latenessP99Us, second.requests, second.stalled) == (0, nil, 3, 1))
        #expect((second.commits, second.commitP99Us) == (1, 4960))
        #expect((second.delivered, second.failed) == (3, 2))
    }

    @Test func `a point begins with the log, and there is none without`() {
        let history = StatsHistory(startedAt: 0)
        history.add(figures(10, ownership: nil, requests: 5))
        #expect(history.points(minutes: 60, now: 10 * Self.second) == [])
        history.add(figures(20, ownership: 1, requests: 6) { $0.fires[0] = 3 })
        history.add(figures(30, ownership: 2, requests: 8) { $0.fires[0] = 4 })
        let points = history.points(minutes: 60, now: 30 * Self.second)
        #expect(points.map(\.fires) == [3, 4])
        #expect(points.map(\.requests) == [1, 2])
    }

    @Test func `an hour is kept`() {
        let history = StatsHistory(startedAt: 0)
        for point in 1...400 { history.add(figures(Int64(point) * 10)) }
        let now = 4000 * Self.second
        let points = history.points(minutes: 60, now: now)
        #expect((points.count, points.first?.at, points.last?.at) == (StatsHistory.mostPoints, 410_000, 4_000_000))
        #expect(
            history.points(minutes: 1, now: now).map(\.at)
                == [3940, 3950, 3960, 3970, 3980, 3990, 4000].map { $0 * 1000 })
        #expect(history.points(minutes: 1, now: now + 61 * Self.second) == [])
    }

    @Test func `a point is written with every member`() throws {
        let point = try #require(StatsPoint(from: StatsFigures(monotonic: 0), to: figures(10)))
        var json = JSONWriter()
        StatsJSON.write(point, &json)
        let text = String(decoding: json.bytes, as: UTF8.self)
        #expect(
            text == #"{"at":"1970-01-01T00:00:10.000Z","durationMs":10000,"fires":0,"latenessP50Us":null,"#
                + #""latenessP99Us":null,"commits":0,"commitP99Us":null,"requests":0,"delivered":0,"failed":0,"#
                + #""running":0,"stalled":0,"overdueMs":0,"streams":0,"pendingDeliveries":0,"deadDeliveries":0}"#)
    }
}
