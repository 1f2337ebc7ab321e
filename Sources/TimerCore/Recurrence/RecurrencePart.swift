import Primitives

/// The parts of a recurrence rule. The raw value is the part's name.
enum RecurrencePart: String, CaseIterable {
    case frequency = "FREQ"
    case interval = "INTERVAL"
    case count = "COUNT"
    case until = "UNTIL"
    case seconds = "BYSECOND"
    case minutes = "BYMINUTE"
    case hours = "BYHOUR"
    case days = "BYDAY"
    case monthDays = "BYMONTHDAY"
    case yearDays = "BYYEARDAY"
    case weeks = "BYWEEKNO"
    case months = "BYMONTH"
    case positions = "BYSETPOS"
    case weekStart = "WKST"

    /// The largest INTERVAL and COUNT: nine digits.
    static let largestCount = 999_999_999

    /// The numbers that the part takes; for ``days`` those before a day of the week.
    var numbers: ClosedRange<Int> {
        switch self {
        case .interval, .count: 1...Self.largestCount
        case .seconds, .minutes: 0...59
        case .hours: 0...23
        case .months: 1...12
        case .monthDays: 1...31
        case .days, .weeks: 1...53
        case .yearDays, .positions: 1...366
        case .frequency, .until, .weekStart: 0...0
        }
    }

    /// Whether a number may have a sign; a minus counts from the end.
    private var isSigned: Bool { [.days, .monthDays, .yearDays, .weeks, .positions].contains(self) }

    func error(_ message: String) -> RecurrenceError { RecurrenceError("\(rawValue): \(message)") }

    /// Reads a number of this part.
    func number(_ text: ArraySlice<UInt8>) throws(RecurrenceError) -> Int {
        let hasSign = isSigned && (text.first == UInt8(ascii: "+") || text.first == UInt8(ascii: "-"))
        let isNegative = hasSign && text.first == UInt8(ascii: "-")
        let digits = hasSign ? text.dropFirst() : text
        guard !digits.isEmpty else { throw error("a number is missing") }
        guard digits.allSatisfy(CronField.isDigit) else { throw error("\(CronError.quote(text)) is no number") }
        guard let number = CronField.number(digits), numbers.contains(number) else {
            let (low, high) = (numbers.lowerBound, numbers.upperBound)
            let other = isSigned ? " or -\(high) to -\(low)" : ""
            throw error("\(CronError.quote(text)) is not in \(low)-\(high)\(other)")
        }
        return isNegative ? -number : number
    }

    /// Reads a day of the week; 0 is Sunday.
    func weekday(_ text: ArraySlice<UInt8>) throws(RecurrenceError) -> Int {
        let upper = text.map(CronField.uppercase)
        guard
            let weekday = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"].firstIndex(where: { $0.utf8.elementsEqual(upper) })
        else { throw error("\(CronError.quote(text)) is none of MO TU WE TH FR SA SU") }
        return weekday
    }

    /// Reads the last second that `UNTIL` includes.
    func end(_ text: ArraySlice<UInt8>) throws(RecurrenceError) -> RecurrenceRule.End {
        let upper = Array(text.map(CronField.uppercase))
        let isUTC = upper.count == 16 && upper[15] == UInt8(ascii: "Z")
        let hasTime = (isUTC || upper.count == 15) && upper[8] == UInt8(ascii: "T")
        guard hasTime || upper.count == 8, let date = CronField.number(upper[..<8]),
            let clock = hasTime ? CronField.number(upper[9..<15]) : 235_959
        else {
            throw error(
                "\(CronError.quote(text)) is neither a date such as 20261224 nor a time such as 20261224T090000 or "
                    + "20261224T080000Z")
        }
        let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100)
        guard let civil = CivilDate(year: Int64(year), month: Int64(month), day: Int64(day)) else {
            throw error("\(CronError.quote(text)) is on no day of the calendar")
        }
        let (hour, minute, second) = (clock / 10_000, clock / 100 % 100, clock % 100)
        guard hour < 24, minute < 60, second < 60 else { throw error("\(CronError.quote(text)) is at no time of day") }
        let end = civil.daysSince1970 * CronExpression.day + Int64(hour * 3600 + minute * 60 + second)
        return isUTC ? .instant(end) : .local(end)
    }
}
