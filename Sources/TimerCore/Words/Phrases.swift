import Primitives

/// The phrases that descriptions consist of: lists, numbers, names, durations and instants.
struct Phrases {
    /// The most items of a list that are named; a longer list ends with the number of those that are not.
    let mostItems: Int

    /// The days of the week in the order of a week that begins on Monday, each as the bit of a set; Sunday is bit 0.
    static let week = [1, 2, 3, 4, 5, 6, 0]

    /// The names of the days of the week; 0 is Sunday.
    static let weekdayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    private static let monthNames = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// Returns `a`, `a and b`, `a, b and c`, or `a, b and 17 more`.
    func list(_ items: [String], _ conjunction: String = "and") -> String {
        var shown = items
        if items.count > mostItems {
            shown = Array(items.prefix(mostItems))
            shown.append("\(items.count - shown.count) more")
        }
        guard let last = shown.popLast() else { return "" }
        return shown.isEmpty ? last : shown.joined(separator: ", ") + " \(conjunction) " + last
    }

    /// Returns the items of a list of numbers, ascending: three or more in a row are one item, such as `1 to 5`.
    static func ranges(_ numbers: [Int], _ name: (Int) -> String) -> [String] {
        runs(of: numbers).flatMap { run in
            run.count < 3 ? run.map(name) : ["\(name(run.lowerBound)) to \(name(run.upperBound))"]
        }
    }

    /// Returns the numbers of minutes and the like: `minute 5`, `minutes 0 to 56 in steps of 7`, `minutes 1 to 5 and 9`.
    func numbers(_ set: UInt64, _ unit: String) -> String {
        let numbers = set.members
        guard numbers.count > 1 else { return "\(unit) \(set.trailingZeroBitCount)" }
        if numbers.count > 3, let step = Self.step(of: numbers), step > 1, let last = numbers.last {
            return "\(unit)s \(numbers[0]) to \(last) in steps of \(step)"
        }
        return "\(unit)s " + list(Self.ranges(numbers) { "\($0)" })
    }

    /// Returns `January`, `March to May and July`.
    func months(_ set: UInt64, _ conjunction: String = "and") -> String {
        list(Self.ranges(set.members) { Self.monthNames[$0 - 1] }, conjunction)
    }

    /// Returns the ranges of numbers, ascending, that follow each other.
    static func runs(of numbers: [Int]) -> [ClosedRange<Int>] {
        var runs: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = runs.last, last.upperBound + 1 == number {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs
    }

    /// Returns the distance between two or more numbers, ascending, that are evenly spaced; nil for others.
    static func step(of numbers: [Int]) -> Int? {
        guard numbers.count > 1 else { return nil }
        let step = numbers[1] - numbers[0]
        return zip(numbers, numbers.dropFirst()).allSatisfy { $1 - $0 == step } ? step : nil
    }

    /// Returns `1st`, `2nd`, `11th`, `22nd`.
    static func ordinal(_ number: Int64) -> String {
        let isTeen = (11...13).contains(number % 100)
        let ending =
            switch number % 10 {
            case 1 where !isTeen: "st"
            case 2 where !isTeen: "nd"
            case 3 where !isTeen: "rd"
            default: "th"
            }
        return "\(number)\(ending)"
    }

    /// Returns an ordinal number, spelled out up to the fifth.
    static func spelled(_ number: Int64) -> String {
        (1...5).contains(number) ? ["first", "second", "third", "fourth", "fifth"][Int(number) - 1] : ordinal(number)
    }

    /// Returns `first` for 1, `last` for -1, `second-last` for -2.
    static func place(_ number: Int64) -> String {
        if number > 0 { return spelled(number) }
        return number == -1 ? "last" : "\(spelled(-number))-last"
    }

    /// Returns `1 fire`, `2 fires`.
    static func count(_ number: Int64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

// Durations, in milliseconds.
extension Phrases {
    private static let units: [(length: Int64, name: String)] = [
        (Schedule.day, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second"), (1, "millisecond"),
    ]

    /// Returns `90 seconds`, `1 day and 4 hours`; of working time `8 working hours`, `2 hours and 5 minutes of working
    /// time`. A single unit is preferred where it makes less than a hundred.
    static func duration(_ milliseconds: Int64, isWorking: Bool = false) -> String {
        if let (number, unit) = single(milliseconds, isWorking) {
            return count(number, isWorking ? "working \(unit)" : unit)
        }
        var rest = milliseconds
        var parts: [String] = []
        for (length, name) in units.dropFirst(isWorking ? 1 : 0) where rest >= length {
            parts.append(count(rest / length, name))
            rest %= length
        }
        return Phrases(mostItems: parts.count).list(parts) + (isWorking ? " of working time" : "")
    }

    /// Returns `every hour`, `every 90 seconds`, `every 2 days of 24 hours`.
    static func every(_ milliseconds: Int64, isWorking: Bool) -> String {
        let duration = duration(milliseconds, isWorking: isWorking)
        guard let (number, unit) = single(milliseconds, isWorking) else { return "every \(duration)" }
        if unit == "day" { return number == 1 ? "every 24 hours" : "every \(duration) of 24 hours" }
        return number == 1 ? "every \(duration.dropFirst(2))" : "every \(duration)"
    }

    /// Returns a duration as a number of one unit; nil for one that takes several.
    private static func single(_ milliseconds: Int64, _ isWorking: Bool) -> (number: Int64, unit: String)? {
        let units = units.dropFirst(isWorking ? 1 : 0)
        guard milliseconds > 0, let longest = units.first(where: { milliseconds >= $0.length }) else {
            return (max(milliseconds, 0), "second")
        }
        guard let unit = units.first(where: { milliseconds % $0.length == 0 }) else { return nil }
        let number = milliseconds / unit.length
        return number < 100 || unit.length == longest.length ? (number, unit.name) : nil
    }
}

// Dates and times of day.
extension Phrases {
    /// Returns an instant in wall milliseconds: `2030-01-01 08:00 UTC`.
    static func instant(_ milliseconds: Int64) -> String {
        let second = floorDivide(milliseconds, 1000)
        return local(second, thousandths: milliseconds - second * 1000) + " UTC"
    }

    /// Returns a local time in seconds since 1970: `2030-01-01 08:00`.
    static func local(_ second: Int64, thousandths: Int64 = 0) -> String {
        let day = floorDivide(second, CronExpression.day)
        return date(day) + " " + clock(second - day * CronExpression.day, thousandths: thousandths)
    }

    /// Returns the date of a day counted from 1970-01-01: `2030-01-01`.
    static func date(_ day: Int64) -> String {
        let date = CivilDate(daysSince1970: day)
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
    }

    /// Returns the time of day of a local time in milliseconds since 1970.
    static func clock(ofLocal milliseconds: Int64) -> String {
        let time = milliseconds - floorDivide(milliseconds, Schedule.day) * Schedule.day
        return clock(time / 1000, thousandths: time % 1000)
    }

    /// Returns a time of day in seconds since midnight: `09:00`, `09:00:30`, `09:00:30.250`.
    static func clock(_ time: Int64, thousandths: Int64 = 0) -> String {
        let minutes = "\(padded(time / 3600, 2)):\(padded(time / 60 % 60, 2))"
        guard time % 60 != 0 || thousandths != 0 else { return minutes }
        return "\(minutes):\(padded(time % 60, 2))" + (thousandths == 0 ? "" : ".\(padded(thousandths, 3))")
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

// Sets of numbers below 64, bit n for the number n.
extension UInt64 {
    /// The numbers, ascending.
    var members: [Int] { (0..<64).filter { has($0) } }
}
