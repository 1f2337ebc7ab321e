import TestSupport
import Testing

@testable import TimerCore
@testable import TimerLog

struct LogFoldTests {
    private func timers(_ rows: [LogRow]) throws -> SchedulerCopy { SchedulerCopy(try fold(rows).finish()) }

    private func fold(_ rows: [LogRow]) throws -> LogFold {
        var fold = LogFold(secret: [])
        for row in rows { try fold.fold(row) }
        return fold
    }

    @Test func `an empty log is nothing`() throws {
        let fold = try fold([])
        #expect(fold.head == 0)
        #expect(fold.lastBase == nil)
        #expect(fold.deletedThrough == nil)
        #expect(SchedulerCopy(fold.finish()).timers.isEmpty)
    }

    @Test func `the newest record of a timer counts, and its newest definition`() throws {
        var script = LogScript()
        script.event(.created, "a", payload: [1])
        script.row()
        let updated = script.event(.updated, "a", payload: [2, 2])
        script.event(.created, "b", .idle)
        script.row()
        let suspended = script.event(.suspended, "a", .suspended)
        script.row()
        let fold = try fold(script.rows)
        #expect(fold.head == script.next - 1)
        #expect(fold.records == 4)
        #expect(fold.bytes == RowBytes(script.rows))
        #expect(fold.lastBase?.boottime == 7)
        #expect(fold.deletedThrough == 0)
        let timers = SchedulerCopy(fold.finish())
        let timer = try #require(timers["a"])
        #expect(timers.timers.count == 2)
        #expect(timer.progress.state == .suspended)
        #expect(timer.progress.version == 3)
        #expect(timer.lastEvent == suspended)
        #expect(timer.lastRecord == suspended)
        #expect(timer.base == updated)
        #expect(timer.definition.last == 2)
    }

    @Test func `a broken chain is refused at the row that breaks it`() throws {
        var script = LogScript()
        for id in ["a", "b", "c"] {
            script.event(.created, id)
            script.row()
        }
        var fold = try fold([script.rows[0]])
        let error = #expect(throws: StoreError.self) { try fold.fold(script.rows[2]) }
        #expect(error?.kind == .damaged)
        #expect(error?.description.contains("position 3 ") == true)
        #expect(fold.head == 1)
        try fold.fold(script.rows[1])
        try fold.fold(script.rows[2])
        #expect(SchedulerCopy(fold.finish()).timers.count == 3)
    }

    @Test func `a log whose oldest rows are gone says up to where`() throws {
        var script = LogScript()
        script.event(.created, "a")
        script.event(.activated, "a")
        script.row()
        script.event(.created, "b")
        script.row()
        let fold = try fold([script.rows[1]])
        #expect(fold.deletedThrough == 2)
        #expect(SchedulerCopy(fold.finish()).timers.count == 1)
    }

    @Test func `the first event of a timer that no record defines is damage`() throws {
        var script = LogScript()
        script.event(.suspended, "a", .suspended)
        script.row()
        let error = #expect(throws: StoreError.self) { _ = try fold(script.rows) }
        #expect(error?.kind == .damaged)
        #expect(error?.description.contains("position 1 ") == true)
    }

    @Test func `events of a timer that was deleted later may have lost their beginning`() throws {
        var script = LogScript()
        script.event(.created, "a")
        script.row()
        script.event(.suspended, "a", .suspended)
        script.row()
        script.event(.deleted, "a", .suspended)
        script.row()
        let timers = try timers(Array(script.rows.dropFirst()))
        #expect(timers.timers.count == 0)
        #expect(timers.versionFloor == 3)
    }

    @Test func `a snapshot stands for what came before it`() throws {
        var script = LogScript()
        script.event(.created, "a")
        script.row()
        let suspended = script.event(.suspended, "a", .suspended)
        script.row()
        let snapshot = script.snapshot("a", .suspended, version: 2)
        script.row()
        let resumed = script.event(.resumed, "a", version: 3)
        script.row()
        for cut in 0...2 {
            for end in 3...4 {
                let timers = try timers(Array(script.rows[cut..<end]))
                let timer = try #require(timers["a"])
                #expect(timer.base == snapshot)
                #expect(timer.progress.version == Int64(end - 1))
                #expect(timer.lastEvent == (end == 3 ? suspended : resumed))
                #expect(timer.lastRecord == (end == 3 ? snapshot : resumed))
            }
        }
    }

    @Test func `an id that is used again begins anew`() throws {
        var script = LogScript()
        script.event(.created, "a", payload: [1])
        script.event(.deleted, "a")
        script.row()
        let created = script.event(.created, "a", .idle, payload: [9])
        script.row()
        for rows in [script.rows, [script.rows[1]]] {
            let timers = try timers(rows)
            let timer = try #require(timers["a"])
            #expect(timers.timers.count == 1)
            #expect(timer.progress.state == .idle)
            #expect(timer.base == created)
            #expect(timer.definition.last == 9)
        }
    }

    @Test func `the floor of versions only rises`() throws {
        var script = LogScript()
        script.versionFloor(40)
        script.versionFloor(30)
        script.event(.created, "a", version: 41)
        script.event(.deleted, "a", version: 50)
        script.versionFloor(45)
        script.row()
        #expect(try timers(script.rows).versionFloor == 50)
    }

    @Test func `answers come in log order with their places`() throws {
        var script = LogScript()
        let first = script.answer(1, at: 10, bytes: 7)
        script.answer(2, at: 20)
        script.row()
        let copy = script.answer(1, at: 10, bytes: 7)
        script.row()
        let answers = try fold(script.rows).answers
        #expect(answers.map(\.request.key.low) == [1, 2, 1])
        #expect(answers.map(\.position) == [first, first + 1, copy])
        #expect(answers.map(\.byteCount) == [7, 3, 7])
        #expect(answers.sorted(by: LogFold.AnswerPlace.isOlder).map(\.position) == [first, copy, first + 1])
    }

    @Test func `a damaged record is named, and the rows before it stay`() throws {
        var script = LogScript()
        script.event(.created, "a")
        script.row()
        script.event(.created, "b")
        script.event(.created, "c")
        script.row()
        var rows = script.rows
        rows[1].data[rows[1].data.count - 1] ^= 1
        var fold = try fold([rows[0]])
        let error = #expect(throws: StoreError.self) { try fold.fold(rows[1]) }
        #expect(error?.kind == .damaged)
        #expect(error?.description.contains("position 3 ") == true)
        #expect(fold.head == 1)
        #expect(fold.lastBase?.boottime == 7)
    }
}
