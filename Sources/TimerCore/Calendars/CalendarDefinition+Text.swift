import Primitives

/// The reason a calendar was refused, and the place in it.
public struct CalendarError: Error, Sendable, Equatable {
    /// The JSON pointer (RFC 6901) to the part that was refused, such as `/week/mon-fri/0`.
    public let pointer: String
    /// The reason in one line of visible characters and spaces, whatever the calendar held.
    public let message: String

    init(_ path: [String], _ message: String) {
        pointer = path.map { "/" + Self.escape($0) }.joined()
        self.message = message
    }

    private static func escape(_ step: String) -> String {
        step.reduce(into: "") { text, character in
            switch character {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.append(character)
            }
        }
    }
}

// Reading a calendar as its client wrote it.
extension CalendarDefinition {
    /// The intervals under a key of the members `week` or `dates`, in the client's order.
    public typealias Entry = (key: [UInt8], intervals: [[UInt8]])

    /// Reads a calendar.
    ///
    /// - Parameters:
    ///   - zone: the IANA name of the time zone, which is not looked up here.
    ///   - week: the keys are days, `mon` to `sun`, or ranges of them; `fri-mon` wraps around. A day without a key is
    ///     closed.
    ///   - dates: the keys are dates, `2026-12-24`, or ranges of them, `2026-12-25/2026-12-26`.
    ///
    /// Intervals are `09:00-12:30` or `09:00:00-12:30:00`; one whose end is not after its start ends on the next day.
    public init(zone: [UInt8], week: [Entry], dates: [Entry]) throws(CalendarError) {
        var days: [[Interval]?] = Array(repeating: nil, count: 7)
        for entry in week {
            let path = ["week", String(decoding: entry.key, as: UTF8.self)]
            let weekdays = try Self.weekdays(entry.key, path)
            let intervals = try Self.intervals(entry.intervals, path)
            for weekday in weekdays {
                guard days[weekday] == nil else {
                    throw CalendarError(path, "\(Self.weekdayNames[weekday]) is in another key too")
                }
                days[weekday] = intervals
            }
        }
        guard days.contains(where: { $0?.isEmpty == false }) else {
            throw CalendarError(["week"], "must open at least once in the week")
        }
        self.init(zone: zone, week: days.map { $0 ?? [] }, dates: try Self.dates(dates))
    }
}

// Keys.
extension CalendarDefinition {
    private static let weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    private static func weekdays(_ key: [UInt8], _ path: [String]) throws(CalendarError) -> [Int] {
        let ends = key.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map { part in
            weekdayNames.firstIndex { $0.utf8.elementsEqual(part) }
        }
        guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1] else {
            throw CalendarError(
                path,
                "\(CronError.quote(key)) is neither a day (mon, tue, wed, thu, fri, sat, sun) nor a range, such as mon-fri"
            )
        }
        guard ends.count == 1 || first != last else {
            throw CalendarError(
                path, "\(CronError.quote(key)) may mean a day or all seven: write \(weekdayNames[first]) or mon-sun")
        }
        return (first...(last < first ? last + 7 : last)).map { $0 % 7 }
    }

    private static func dates(_ entries: [Entry]) throws(CalendarError) -> [Date] {
        var found: [(date: Date, entry: Int)] = []
        for (index, entry) in entries.enumerated() {
            let path = ["dates", String(decoding: entry.key, as: UTF8.self)]
            let days = try days(entry.key, path)
            let intervals = try intervals(entry.intervals, path)
            guard days.count <= dateLimit - found.count else {
                throw CalendarError(["dates"], "has over \(dateLimit) days; a range counts each of its days")
            }
            found += days.map { (Date(day: $0, intervals: intervals), index) }
        }
        found.sort { ($0.date.day, $0.entry) < ($1.date.day, $1.entry) }
        for (one, other) in zip(found, found.dropFirst()) where one.date.day == other.date.day {
            let key = String(decoding: entries[other.entry].key, as: UTF8.self)
            throw CalendarError(["dates", key], "\(text(ofDay: one.date.day)) is in another key too")
        }
        return found.map(\.date)
    }

    private static func days(_ key: [UInt8], _ path: [String]) throws(CalendarError) -> ClosedRange<Int64> {
        var ends: [Int64] = []
        for part in key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard ends.count < 2, let day = day(part) else {
                throw CalendarError(
                    path,
                    "\(CronError.quote(key)) is neither a date, such as 2026-12-24, nor a range, such as 2026-12-25/2026-12-26"
                )
            }
            ends.append(day)
        }
        guard let first = ends.first, let last = ends.last, first <= last else {
            throw CalendarError(path, "\(CronError.quote(key)) ends before it begins")
        }
        return first...last
    }

    /// Reads `2026-12-24`; nil for any other text, and for a date that the calendar has not.
    private static func day(_ text: ArraySlice<UInt8>) -> Int64? {
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], let year = CronField.number(parts[0]),
            let month = CronField.number(parts[1]), let day = CronField.number(parts[2])
        else { return nil }
        return CivilDate(year: Int64(year), month: Int64(month), day: Int64(day))?.daysSince1970
    }

    private static func text(ofDay day: Int64) -> String {
        let date = CivilDate(daysSince1970: day)
        return [(date.year, 4), (date.month, 2), (date.day, 2)].map { number, width in
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }.joined(separator: "-")
    }
}

// Intervals.
extension CalendarDefinition {
    /// Reads the intervals of a day and returns them ascending, with those joined that meet.
    private static func intervals(_ texts: [[UInt8]], _ path: [String]) throws(CalendarError) -> [Interval] {
        guard texts.count <= intervalLimit else {
            throw CalendarError(path, "has \(texts.count) intervals, more than \(intervalLimit)")
        }
        var found: [(interval: Interval, index: Int)] = []
        for (index, text) in texts.enumerated() {
            found.append((try interval(text, path + [String(index)]), index))
        }
        found.sort { ($0.interval.start, $0.index) < ($1.interval.start, $1.index) }
        var joined: [Interval] = []
        for (place, (interval, index)) in found.enumerated() {
            guard let last = joined.last, interval.start <= last.end else {
                joined.append(interval)
                continue
            }
            guard interval.start == last.end else {
                let before = found[place - 1].index
                let later = max(index, before)
                throw CalendarError(
                    path + [String(later)],
                    "\(CronError.quote(texts[later])) overlaps \(CronError.quote(texts[min(index, before)]))")
            }
            joined[joined.count - 1] = Interval(start: last.start, end: interval.end)
        }
        return joined
    }

    private static func interval(_ text: [UInt8], _ path: [String]) throws(CalendarError) -> Interval {
        let day = CronExpression.day
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, let start = time(parts[0]), let end = time(parts[1]) else {
            throw CalendarError(
                path, "\(CronError.quote(text)) is no interval, such as 09:00-12:30 or 09:00:00-12:30:00")
        }
        guard start < day else {
            throw CalendarError(path, "\(CronError.quote(text)): 24:00 can only be an end")
        }
        return Interval(start: start, end: end > start ? end : end + day)
    }

    /// Reads `09:00` or `09:00:00`, up to `24:00`, in seconds; nil for any other text.
    private static func time(_ text: ArraySlice<UInt8>) -> Int64? {
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count) else { return nil }
        var time: Int64 = 0
        for part in parts {
            guard part.count == 2, let number = CronField.number(part), number < 60 else { return nil }
            time = time * 60 + Int64(number)
        }
        if parts.count == 2 { time *= 60 }
        return time <= CronExpression.day ? time : nil
    }
}
