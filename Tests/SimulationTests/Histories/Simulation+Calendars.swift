import TestSupport

@testable import TimerCore
@testable import TimerService

/// Calendars, which clients set and delete at any time.
extension Simulation {
    /// Sets a calendar to other hours, or tries to delete one.
    func changeCalendar() throws {
        guard let name = RandomRules.calendars.randomElement(using: &random) else { return }
        let deletes = random.chance(oneIn: 4)
        let hours = RandomRules.hours(&random, wall: server.now().down(.wall))
        note("\(deletes ? "delete" : "put \(hours.intervals) as") calendar \(name)")
        let failure: (any Error)? = server.engine.turn { turn in
            do {
                if deletes { try delete(name, turn) } else { try put(name, hours, turn) }
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    private func put(_ name: CalendarName, _ hours: ModelHours, _ turn: borrowing Turn) throws {
        let isOpen = server.isOpen
        let content = hours.content
        let made = random.chance(oneIn: 2) ? content.openHours(in: UTCOnly()) : nil
        do throws(ServiceError) {
            _ = try turn.putCalendar(name, content, made: made, if: .none, unless: .none)
        } catch .calendarRefused(.isChanging) {
            let past = server.engine.calendars[name]?.past.count
            return try promise(past == NamedCalendar.mostPast, "\(name) is told to change with \(past ?? 0) past hours")
        } catch {
            return try promise(!isOpen, "\(name) is refused: \(error)")
        }
        try promise(isOpen, "\(name) is taken while storage fails")
        model.set(name, hours, turn.now)
        try acceptAll(nil)
    }

    private func delete(_ name: CalendarName, _ turn: borrowing Turn) throws {
        // An ended timer of a deleted calendar could not be started again, which no history does.
        let uses = model.uses(of: name)
        if uses == 0, model.timers.values.contains(where: { $0.rules.calendar?.name == name }) { return }
        let isOpen = server.isOpen
        let version = server.engine.calendars[name]?.version ?? 0
        var refusal: ServiceError?
        do throws(ServiceError) { try turn.deleteCalendar(name, if: .none) } catch { refusal = error }
        switch refusal {
        case nil:
            try promise(isOpen && uses == 0 && model.calendars[name] != nil, "\(name) is deleted, with \(uses) timers")
            model.calendars[name] = nil
            model.versionFloor = max(model.versionFloor, version)
            reached.insert(.calendarDeleted)
        case .calendarRefused(.notFound)?:
            try promise(model.calendars[name] == nil, "\(name) is not found")
        case .calendarRefused(.inUse(let timers))?:
            try promise(timers == uses && uses > 0, "\(name) is in use by \(timers) timers, not \(uses)")
            reached.insert(.calendarInUse)
        case let error?: try promise(!isOpen, "\(name) can't be deleted: \(error)")
        }
        try acceptAll(nil)
    }

    /// Checks that there are the calendars of a model.
    func check(_ calendars: CalendarTable, _ expected: Model) throws(BrokenPromise) {
        let held = Dictionary(uniqueKeysWithValues: calendars.all.map { ($0.name, $0.content) })
        try promise(held == expected.calendars.mapValues { $0.content }, "the calendars are \(held)")
    }
}

extension RandomRules {
    /// The names of calendars that clients use.
    static let calendars = ["day", "night"].compactMap { CalendarName($0.utf8) }

    /// Returns opening hours that begin and end near `wall`, too, and are open for a quarter of the day at least.
    static func hours(_ random: inout SeededGenerator, wall: Int64) -> ModelHours {
        let day: Int64 = 86_400
        let now = floorDivide(wall, 1000) % day
        var ends: Set<Int64> = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            ends.insert((now + Int64.random(in: -20...200, using: &random) + day) % day)
        }
        ends.insert(Int64.random(in: 0..<day, using: &random))
        let bounds = [0] + ends.subtracting([0]).sorted() + [day]
        let parts = zip(bounds, bounds.dropFirst()).map { $0..<$1 }
        let isOpenFirst = random.chance(oneIn: 2)
        let chosen = (0..<2).map { odd in
            parts.enumerated().filter { ($0.offset % 2 == 0) == (isOpenFirst == (odd == 0)) }.map(\.element)
        }
        let isLong = chosen[0].reduce(0) { $0 + $1.upperBound - $1.lowerBound } >= day / 4
        return ModelHours(intervals: chosen[isLong ? 0 : 1])
    }

    /// Gives half of the timers whose kind the model can plan by a calendar one of `names` to go by.
    static func addCalendar(to rules: inout TimerRules, _ random: inout SeededGenerator, _ names: [CalendarName]) {
        guard let name = names.randomElement(using: &random), random.chance(oneIn: 2) else { return }
        switch rules.schedule {
        case .after, .every(_, first: .period), .every(_, first: .after):
            rules.clock = .working
            rules.calendar = CalendarRule(name, onClosed: .skip)
        case .at: rules.calendar = CalendarRule(name, onClosed: .next)
        case .every, .cron, .recurrence, .watchdog, .expecting: break
        }
    }
}
