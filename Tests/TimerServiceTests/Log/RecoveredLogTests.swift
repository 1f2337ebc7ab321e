import Platform
import TestSupport
import Testing
import TimerCore

@testable import TimerLog
@testable import TimerService

struct RecoveredLogTests {
    private let store = ContestedLogStore()
    private let configuration = EngineConfiguration()

    /// A reader of some rows.
    private final class RowsReader: LogReader {
        private let rows: [LogRow]

        init(rows: [LogRow]) { self.rows = rows }

        func read(from position: Int64, _ body: (LogRow) -> Bool) {
            _ = rows.drop { $0.last < position }.first { !body($0) }
        }

        func row(holding position: Int64) -> LogRow? { rows.first { $0.first <= position && position <= $0.last } }
    }

    /// A reader that can't read.
    private final class FailingReader: LogReader {
        func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) {
            throw StoreError(.unavailable, "the database is away")
        }

        func row(holding position: Int64) -> LogRow? { nil }
    }

    /// Makes timers, each in a row of its own. Returns the store's rows.
    @discardableResult
    private func create(_ ids: String...) throws -> [LogRow] {
        let rig = try Rig(store)
        for id in ids {
            try rig.create(id)
            try rig.settle()
        }
        rig.stop()
        return try rows(of: store.makeFollower())
    }

    /// A fold of the first row.
    private func standby() throws -> StandbyFold {
        var fold = StandbyFold(secret: try #require(store.secret), configuration)
        var count = 0
        let round = try fold.round(at: 0, store.makeFollower()) { _ in
            count += 1
            return count == 1
        }
        #expect(round == .stopped)
        return fold
    }

    /// Recovers the log. Returns the ids of its timers.
    private func recover(_ standby: inout StandbyFold?, isAhead: Bool) throws -> [String] {
        let log = try RecoveredLog.recover(store, configuration, from: &standby, isAhead: isAhead)
        return SchedulerCopy(log.fold.scheduler).timers.keys.sorted()
    }

    @Test(arguments: [true, false], [true, false])
    func `a log whose end another process has moved is read at the next attempt`(isLonger: Bool, isAhead: Bool) throws {
        try create("a", "b", "c")
        var standby: StandbyFold? = try standby()
        let hasMoved = Guarded(false)
        store.onReading { log in
            let isFirst = hasMoved.withLock { moved in
                defer { moved = true }
                return !moved
            }
            if isFirst, isLonger { _ = log.beginEpoch(session: 0, after: 0) }
            if isFirst, !isLonger { log.loseNewestRow() }
            return log.makeFollower()
        }
        let error = #expect(throws: StoreError.self) { try recover(&standby, isAhead: isAhead) }
        #expect(error?.kind == .unavailable)
        let isKept = standby != nil
        #expect(isKept)
        #expect(try recover(&standby, isAhead: isAhead) == (isLonger ? ["a", "b", "c"] : ["a", "b"]))
    }

    @Test(arguments: [true, false])
    func `a fold is kept where the start of its log can't be read`(isAhead: Bool) throws {
        try create("a", "b", "c")
        var standby: StandbyFold? = try standby()
        let readings = Guarded(0)
        store.onReading { log in
            let isSecond = readings.withLock { count in
                count += 1
                return count == 2
            }
            return isSecond ? FailingReader() : log.makeFollower()
        }
        let error = #expect(throws: StoreError.self) { try recover(&standby, isAhead: isAhead) }
        #expect(error?.kind == .unavailable)
        let isKept = standby != nil
        #expect(isKept)
        #expect(try recover(&standby, isAhead: isAhead) == ["a", "b", "c"])
    }

    @Test(arguments: [true, false])
    func `rows that the owner before deletes after all are no damage`(isAhead: Bool) throws {
        let rows = try create("a", "b", "c", "d")
        var standby: StandbyFold? = try standby()
        let readings = Guarded(0)
        store.onReading { log in
            let count = readings.withLock { count in
                count += 1
                return count
            }
            // The first reading misses a row after the first one, the second misses that one too.
            return RowsReader(rows: count == 1 ? [rows[0], rows[2], rows[3]] : [rows[2], rows[3]])
        }
        #expect(try recover(&standby, isAhead: isAhead) == ["c", "d"])
    }

    @Test(arguments: [true, false]) func `a row that is missing at each reading is damage`(isAhead: Bool) throws {
        let rows = try create("a", "b", "c")
        let readings = Guarded(0)
        store.onReading { _ in
            readings.withLock { $0 += 1 }
            return RowsReader(rows: [rows[0], rows[2]])
        }
        var standby: StandbyFold?
        let error = #expect(throws: StoreError.self) { try recover(&standby, isAhead: isAhead) }
        #expect(error?.kind == .damaged)
        #expect(error?.description.contains("position \(rows[2].first)") == true)
        #expect(readings.withLock { $0 } < 10)
    }

    @Test func `a row that is missing in a log of one process is damage at once`() throws {
        let rows = try create("a", "b", "c")
        var fold = StandbyFold(secret: try #require(store.secret), configuration)
        let reader = RowsReader(rows: [rows[0], rows[2]])
        #expect(try fold.round(at: 0, reader) == .broken(.overtaken))
        let error = #expect(throws: StoreError.self) { try fold.round(at: 0, reader, isShared: false) }
        #expect(error?.kind == .damaged)
    }
}
