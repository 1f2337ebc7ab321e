import Primitives

/// A rule for all years as POSIX writes it in `TZ`, with the extensions of RFC 9636: hours may be -167 to 167.
/// `CET-1CEST,M3.5.0,M10.5.0/3` is one.
struct PosixZone: Equatable {
    /// The offset of standard time from UTC in seconds, positive east of Greenwich (POSIX writes it the other way).
    let standard: Int32
    /// Daylight saving time, if there is any.
    let daylight: Daylight?

    struct Daylight: Equatable {
        let offset: Int32
        let start: YearPoint
        let end: YearPoint
    }

    /// A time that comes every year.
    struct YearPoint: Equatable {
        var day: DayRule
        /// The seconds since the day's midnight, in the local time before the change.
        var time: Int64 = 7200
    }

    enum DayRule: Equatable {
        /// `Jn`: the day of the year from 1, never counting 29 February.
        case julian(Int64)
        /// `n`: the day of the year from 0, counting 29 February.
        case ordinal(Int64)
        /// `Mm.w.d`: the weekday `d` (0 is Sunday) of the month's week `w`; 5 is the last.
        case weekday(Int, week: Int, month: Int)

        /// Returns the day in a year, counted from 1970-01-01.
        func day(in year: Int64) -> Int64 {
            let january = CivilMonth(year: year, month: 1).firstDay
            switch self {
            case .julian(let day): return january + day - 1 + (CivilDate.isLeap(year) && day >= 60 ? 1 : 0)
            case .ordinal(let day): return january + day
            case .weekday(let weekday, let week, let number):
                let month = CivilMonth(year: year, month: number)
                var day = 1 + (weekday - month.firstWeekday + 7) % 7 + (week - 1) * 7
                if day > month.length { day -= 7 }
                return month.firstDay + Int64(day) - 1
            }
        }
    }

    /// Returns the changes of offset in the rules of `years`, ascending; none without daylight saving time.
    func changes(years: ClosedRange<Int64>) -> [(instant: Int64, offset: Int32)] {
        guard let daylight else { return [] }
        var all: [(instant: Int64, offset: Int32)] = []
        for year in years {
            let start = daylight.start.day.day(in: year) * CronExpression.day + daylight.start.time
            let end = daylight.end.day.day(in: year) * CronExpression.day + daylight.end.time
            // The end comes first at the same instant: daylight saving time that begins as it ends holds all year.
            all.append((end - Int64(daylight.offset), standard))
            all.append((start - Int64(standard), daylight.offset))
        }
        // The language does not promise a stable sort, so the year's order is part of the key.
        let order = all.indices.sorted { (all[$0].instant, $0) < (all[$1].instant, $1) }
        var changes: [(instant: Int64, offset: Int32)] = []
        for index in order {
            if changes.last?.instant == all[index].instant { changes.removeLast() }
            if changes.last?.offset != all[index].offset { changes.append(all[index]) }
        }
        return changes
    }
}

// Reading a rule.
extension PosixZone {
    /// Reads a rule; nil if the whole text is none.
    init?(_ text: [UInt8]) {
        var reader = PosixZoneReader(rest: text[...])
        guard reader.skipName(), let standard = reader.offset() else { return nil }
        self.standard = standard
        if reader.rest.isEmpty {
            daylight = nil
            return
        }
        guard reader.skipName() else { return nil }
        var offset: Int32? = standard + 3600
        if reader.rest.first != UInt8(ascii: ",") { offset = reader.offset() }
        guard let offset, TimeZoneTable.offsets.contains(Int64(offset)), let start = reader.point(),
            let end = reader.point(), reader.rest.isEmpty
        else { return nil }
        daylight = Daylight(offset: offset, start: start, end: end)
    }
}

private struct PosixZoneReader {
    var rest: ArraySlice<UInt8>

    /// Skips a name of at least three characters, such as `CET` or `<+03>`. Returns false if there is none.
    mutating func skipName() -> Bool {
        let quoted = skip(UInt8(ascii: "<"))
        let name = rest.prefix { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || quoted && (Self.isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"))
        }
        rest.removeFirst(name.count)
        return name.count >= 3 && (!quoted || skip(UInt8(ascii: ">")))
    }

    /// Reads an offset of less than 25 hours, such as `-1` or `+3:30:15`. Returns seconds, positive east of
    /// Greenwich.
    mutating func offset() -> Int32? {
        guard let time = time(hours: 24), TimeZoneTable.offsets.contains(-time) else { return nil }
        return Int32(-time)
    }

    /// Reads the time of a change in a year, such as `,M3.5.0/2`, at two o'clock unless it gives another.
    mutating func point() -> PosixZone.YearPoint? {
        guard skip(UInt8(ascii: ",")), let day = day() else { return nil }
        var point = PosixZone.YearPoint(day: day)
        if skip(UInt8(ascii: "/")) {
            guard let time = time(hours: 167) else { return nil }
            point.time = time
        }
        return point
    }

    private mutating func day() -> PosixZone.DayRule? {
        if skip(UInt8(ascii: "J")) { return number(1...365).map { .julian(Int64($0)) } }
        guard skip(UInt8(ascii: "M")) else { return number(0...365).map { .ordinal(Int64($0)) } }
        guard let month = number(1...12), skip(UInt8(ascii: ".")), let week = number(1...5), skip(UInt8(ascii: ".")),
            let weekday = number(0...6)
        else { return nil }
        return .weekday(weekday, week: week, month: month)
    }

    private mutating func time(hours limit: Int) -> Int64? {
        let negative = skip(UInt8(ascii: "-"))
        if !negative { _ = skip(UInt8(ascii: "+")) }
        guard let hours = number(0...limit) else { return nil }
        var seconds = hours * 3600
        for unit in [60, 1] where skip(UInt8(ascii: ":")) {
            guard let count = number(0...59) else { return nil }
            seconds += count * unit
        }
        return Int64(negative ? -seconds : seconds)
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix(while: Self.isDigit)
        guard let number = CronField.number(digits), range.contains(number) else { return nil }
        rest.removeFirst(digits.count)
        return number
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
