import TimerCore
import TimerLog
import WireJSON

/// The data that the benchmarks work on.
enum Sample {
    /// A JSON string of 256 bytes.
    static let payload = Array("\"\(String(repeating: "x", count: 254))\"".utf8)
    /// The body of a create.
    static let body = Array("{\"after\":\"30d\",\"payload\":".utf8) + payload + Array("}".utf8)
    /// 2026-11-21T09:00:00Z.
    static let wall: Int64 = 1_795_251_600_000
    static let secret = [UInt8](0..<16)
    static let base = TimeBase(now: now, boottime: 4, boot: Hash128(high: 5, low: 6))
    /// An hour after the start of the elapsed clock, at an instant where slots of the wheel begin.
    static let now = Now(elapsed: 14 * wheelSlot * 1_000_000, wallOffset: wall - 14 * wheelSlot)
    /// Milliseconds of a slot in the wheel's fourth level.
    static let wheelSlot: Int64 = 64 * 64 * 64

    /// The id that a server gives timer number `index`.
    static func id(_ index: Int) -> [UInt8] {
        var text: [UInt8] = []
        // The bits are spread like random ones, and always the same.
        let random = UInt64(index) &* 0x9E37_79B9_7F4A_7C15
        UUIDv7.append(milliseconds: wall + Int64(index), random: (random >> 48, random), to: &text)
        return text
    }

    /// The definition of timer number `index`.
    static func definition(_ index: Int, _ rules: TimerRules) -> [UInt8] {
        let id = id(index)
        let none: [UInt8] = []
        return Definition.encode(
            id: id.span, labels: none.span, rules: rules, webhook: none.span, payload: payload.span)
    }

    /// Rules with every default but the start policy.
    static func rules(_ schedule: Schedule, start: StartPolicy = .now) -> TimerRules {
        var rules = TimerRules(schedule)
        rules.start = start
        return rules
    }

    /// A calendar with weekly hours and twenty dates.
    static let office: NamedCalendar? = {
        let week: [CalendarDefinition.Entry] = [
            (key: Array("mon-fri".utf8), intervals: ["09:00-12:30", "13:30-18:00"].map { Array($0.utf8) })
        ]
        let dates: [CalendarDefinition.Entry] = (2027..<2047).map { (key: Array("\($0)-12-24".utf8), intervals: []) }
        guard let name = CalendarName("office".utf8),
            let hours = try? CalendarDefinition(zone: Array("UTC".utf8), week: week, dates: dates)
        else { return nil }
        return NamedCalendar(
            name: name, content: CalendarContent(hours, week: [], dates: []), version: 1, updatedAt: wall)
    }()

    /// Rules of a timer that is due after thirty hours of working time.
    static let workingRules: TimerRules = {
        var rules = TimerRules(.after(30 * 3_600_000))
        rules.clock = .working
        rules.calendar = office.map { CalendarRule($0.name, onClosed: .skip) }
        return rules
    }()
}

extension Schedule {
    /// Once, in 30 days.
    static let month = Schedule.after(30 * 86_400_000)
}
