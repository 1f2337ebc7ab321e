import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Calendars in the engine and in the log.
struct CalendarChangeTests {
    private let morning: CalendarContent
    private let evening: CalendarContent

    init() throws {
        morning = try .mondays("09:00-12:00")
        evening = try .mondays("18:00-20:00")
    }

    private func name(_ text: String) throws -> CalendarName { try #require(CalendarName(text.utf8)) }

    @discardableResult
    private func put(
        _ rig: Rig, _ content: CalendarContent, as text: String = "b", if condition: VersionCondition = .none,
        unless unwanted: VersionCondition = .none, by actor: Actor? = nil
    ) throws -> (calendar: NamedCalendar, isNew: Bool) {
        let name = try name(text)
        var result: (NamedCalendar, Bool)?
        try rig.change { turn throws(ServiceError) in
            var failure: ServiceError?
            _ = turn.step(by: actor) {
                do throws(ServiceError) {
                    result = try turn.putCalendar(name, content, if: condition, unless: unwanted)
                } catch { failure = error }
                return true
            }
            if let failure { throw failure }
        }
        return try #require(result)
    }

    private func delete(_ rig: Rig, _ text: String = "b", if condition: VersionCondition = .none) throws {
        let name = try name(text)
        try rig.change { turn throws(ServiceError) in try turn.deleteCalendar(name, if: condition) }
    }

    private func calendars(of rig: Rig) -> CalendarTable { rig.engine.turn { $0.calendars } }

    /// Expects that memory and a fold of the log have the same calendars.
    private func expectAgreement(_ rig: Rig, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try rig.settle()
        var fold = LogFold(secret: [1, 2, 3])
        try rig.store.fold(into: &fold)
        #expect(fold.calendars == calendars(of: rig), sourceLocation: sourceLocation)
    }

    private func compactor(_ rig: Rig) -> LogCompaction {
        var tuning = LogCompaction.Tuning()
        (tuning.slackBytes, tuning.rowsPerRound) = (4000, 3)
        return LogCompaction(rig.log, CompactionPacing(), tuning: tuning) { Issue.record("\($0)") }
    }

    @Test func `a calendar is made, replaced and deleted, and the log says who did it`() throws {
        let rig = try Rig()
        let made = try put(rig, morning, by: .token)
        #expect(made.isNew && made.calendar.version == 1 && made.calendar.content == morning)
        try expectAgreement(rig)
        rig.time.pass(milliseconds: 5)
        let replaced = try put(rig, evening)
        #expect(!replaced.isNew && replaced.calendar.version == 2 && replaced.calendar.changedBy == nil)
        #expect(replaced.calendar.updatedAt == made.calendar.updatedAt + 5)
        try expectAgreement(rig)
        try delete(rig)
        #expect(calendars(of: rig).count == 0)
        try expectAgreement(rig)
        let actors = try rig.records().compactMap { record -> [Actor]? in
            switch record.content {
            case .calendar(let calendar): calendar.changedBy.map { [$0] } ?? []
            case .deletedCalendar(_, version: 2, let actor): actor.map { [$0] } ?? []
            default: nil
            }
        }
        #expect(actors == [[.token], [], []])
        rig.stop()
    }

    @Test func `an identical calendar, and a refused change, make no record`() throws {
        let rig = try Rig()
        let made = try put(rig, morning, by: .token).calendar
        try rig.settle()
        let head = rig.locked { $0.batch.head }
        let again = try put(rig, morning, if: .oneOf([1]))
        #expect(!again.isNew && again.calendar == made)
        #expect(throws: ServiceError.calendarRefused(.notFound)) { try delete(rig, "other") }
        #expect(rig.locked { $0.batch.head } == head)
        rig.stop()
    }

    @Test(arguments: [
        (VersionCondition.oneOf([2]), VersionCondition.none, true), (.oneOf([2, 1]), .none, false),
        (.exists, .none, false), (.none, .exists, true), (.none, .oneOf([1]), true), (.none, .oneOf([2]), false),
    ])
    func `a condition is judged by the version, for a content that is there too`(
        _ condition: VersionCondition, _ unwanted: VersionCondition, _ isRefused: Bool
    ) throws {
        let refusal = ServiceError.calendarRefused(.versionMismatch(current: 1))
        for content in [morning, evening] {
            let rig = try Rig()
            try put(rig, morning)
            func change() throws { try put(rig, content, if: condition, unless: unwanted) }
            if isRefused { #expect(throws: refusal) { try change() } } else { try change() }
            rig.stop()
        }
        guard unwanted == .none else { return }
        let rig = try Rig()
        try put(rig, morning)
        if isRefused {
            #expect(throws: refusal) { try delete(rig, if: condition) }
        } else {
            try delete(rig, if: condition)
        }
        rig.stop()
    }

    @Test func `a condition does not hold for a calendar that there is not`() throws {
        let rig = try Rig()
        for condition in [VersionCondition.exists, .oneOf([1])] {
            #expect(throws: ServiceError.calendarRefused(.versionMismatch(current: nil))) {
                try put(rig, morning, if: condition)
            }
        }
        #expect(try put(rig, morning, unless: .exists).isNew)
        rig.stop()
    }

    @Test func `no calendar is made above the most, and others change`() throws {
        let rig = try Rig()
        for number in 0..<CalendarTable.most { try put(rig, morning, as: "c\(number)") }
        #expect(throws: ServiceError.calendarRefused(.isFull)) { try put(rig, morning, as: "one-more") }
        try put(rig, evening, as: "c7")
        try delete(rig, "c8")
        try put(rig, morning, as: "one-more")
        #expect(calendars(of: rig).count == CalendarTable.most)
        rig.stop()
    }

    @Test func `nothing changes while the server is drained`() throws {
        let rig = try Rig()
        try put(rig, morning)
        try rig.change { turn throws(ServiceError) in try turn.setDrained(true) }
        #expect(throws: ServiceError.drained) { try put(rig, evening) }
        #expect(throws: ServiceError.drained) { try put(rig, morning) }
        #expect(throws: ServiceError.drained) { try delete(rig) }
        rig.stop()
    }

    @Test(arguments: [false, true])
    func `the version of a name goes on, deleted and over a restart`(_ isCompacted: Bool) throws {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        try put(rig, morning)
        try put(rig, evening)
        try delete(rig)
        try rig.settle()
        if isCompacted {
            // The rows of the calendar go, and with them its end: the floor of versions stays.
            let last = try #require(try rows(of: store).last?.last)
            #expect(rig.engine.carryVersionFloor())
            try rig.settle()
            while try store.delete(upTo: last) > 0 {}
        }
        rig.stop()
        let again = try Rig(store, time: rig.time)
        #expect(calendars(of: again).count == 0)
        #expect(try put(again, morning).calendar.version == 3)
        try expectAgreement(again)
        again.stop()
    }

    @Test func `calendars of another server are taken by the policy of the import`() throws {
        let rig = try Rig()
        let here = try put(rig, morning).calendar
        func take(_ content: CalendarContent, version: Int64, _ policy: Turn.ConflictPolicy) throws -> Bool {
            var isTaken = false
            try rig.change { turn throws(ServiceError) in
                let calendar = NamedCalendar(name: here.name, content: content, version: version, updatedAt: 7)
                isTaken = try turn.takeCalendar(calendar, policy)
            }
            return isTaken
        }
        func version() throws -> Int64 { try #require(calendars(of: rig)[here.name]).version }
        #expect(throws: ServiceError.calendarRefused(.exists)) { try take(evening, version: 9, .fail) }
        #expect(try !take(evening, version: 9, .skip))
        #expect(calendars(of: rig)[here.name] == here)
        // The same calendar is no conflict; its version lies above those of both servers.
        #expect(try take(morning, version: 1, .fail) && version() == 1)
        #expect(try take(morning, version: 5, .fail) && version() == 5)
        #expect(try take(evening, version: 2, .replace) && version() == 6)
        #expect(try take(morning, version: 20, .replace) && version() == 20)
        #expect(calendars(of: rig)[here.name]?.updatedAt == 7)
        try delete(rig)
        #expect(try take(evening, version: 3, .fail) && version() == 21)
        try expectAgreement(rig)
        rig.stop()
    }

    @Test func `compaction carries the calendars, and no state that a calendar had before`() throws {
        let rig = try Rig()
        let compactor = compactor(rig)
        try put(rig, morning, as: "kept", by: .token)
        try put(rig, morning, as: "changed")
        try rig.settle()
        try put(rig, morning, as: "gone")
        try put(rig, evening, as: "changed")
        try rig.settle()
        try delete(rig, "gone")
        try rig.settle()
        let before = calendars(of: rig)
        for row in try rows(of: rig.store) {
            let carried = try compactor.needs(of: row)
            #expect(rig.engine.carry(carried, from: 0) == carried.count)
            #expect(rig.engine.carryVersionFloor())
            try expectAgreement(rig)
            while try rig.store.delete(upTo: row.last) > 0 {}
            try expectAgreement(rig)
        }
        #expect(calendars(of: rig) == before && before.count == 2)
        #expect(before[try name("kept")]?.changedBy == .token)
        rig.stop()
    }

    @Test func `a change that storage did not take is not there`() throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        let kept = try put(rig, morning).calendar
        try rig.settle()
        store.plan(.unknownAndLost)
        let name = kept.name
        let content = evening
        let position = try rig.change { turn throws(ServiceError) in
            _ = try turn.putCalendar(name, content, if: .none, unless: .none)
        }
        #expect(try rig.fate(position) == .lost)
        try eventually("storage works again") { rig.locked { !$0.storageFails } }
        #expect(calendars(of: rig).all == [kept])
        try expectAgreement(rig)
        rig.stop()
    }
}
