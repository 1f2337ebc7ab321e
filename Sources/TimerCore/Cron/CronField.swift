/// The fields of a cron expression, in their order.
enum CronField: Int, CaseIterable {
    case second, minute, hour, dayOfMonth, month, dayOfWeek

    /// The field's name in messages.
    var name: String {
        switch self {
        case .second: "second"
        case .minute: "minute"
        case .hour: "hour"
        case .dayOfMonth: "day-of-month"
        case .month: "month"
        case .dayOfWeek: "day-of-week"
        }
    }

    /// The numbers that the field takes. Sunday is both 0 and 7, so that a range may end with it.
    var numbers: ClosedRange<Int> {
        switch self {
        case .second, .minute: 0...59
        case .hour: 0...23
        case .dayOfMonth: 1...31
        case .month: 1...12
        case .dayOfWeek: 0...7
        }
    }

    /// The three-letter names of the numbers, the first for the lowest number.
    private var names: [String] {
        switch self {
        case .month: ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
        case .dayOfWeek: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
        default: []
        }
    }

    /// Whether `?` may stand for `*`.
    private var isDay: Bool { self == .dayOfMonth || self == .dayOfWeek }

    func error(_ message: String) -> CronError { CronError("\(name): \(message)") }

    /// Whether `text` is `*`, or `?` where that means the same.
    func isStar(_ text: ArraySlice<UInt8>) -> Bool {
        text.count == 1 && startsWithStar(text)
    }

    /// Whether the field begins with `*`, or with a range that covers the field and so means the same; a step may
    /// follow either.
    func isUnrestricted(_ text: ArraySlice<UInt8>) -> Bool {
        if startsWithStar(text) { return true }
        let base = text.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "/") }
        guard let run = try? run(base) else { return false }
        let last = run.last < run.first ? run.last + cycle : run.last
        return last - run.first + 1 >= cycle
    }

    /// Whether the field begins with `*`, or with `?` for a day: Vixie cron judges by that whether a field is
    /// unrestricted.
    func startsWithStar(_ text: ArraySlice<UInt8>) -> Bool {
        text.first == UInt8(ascii: "*") || isDay && text.first == UInt8(ascii: "?")
    }

    /// Returns the numbers that an item of a list means, bit n for the number n: `*`, `a`, `a-b`, each also with
    /// `/step`.
    func mask(ofItem item: ArraySlice<UInt8>) throws(CronError) -> UInt64 {
        guard let slash = item.firstIndex(of: UInt8(ascii: "/")) else { return mask(try run(item), step: 1) }
        let base = item[..<slash]
        let step = try step(item[(slash + 1)...])
        let run = try run(base)
        // A start alone runs to the field's end: `a/n`.
        let isAlone = !isStar(base) && !base.contains(UInt8(ascii: "-"))
        return mask(isAlone ? (run.first, numbers.upperBound) : run, step: step)
    }

    /// Reads a number of this field, or the name of one.
    func value(_ text: ArraySlice<UInt8>) throws(CronError) -> Int {
        if let number = Self.number(text) {
            guard numbers.contains(number) else {
                throw error("\(number) is not in \(numbers.lowerBound)-\(numbers.upperBound)")
            }
            return number
        }
        let upper = text.map(Self.uppercase)
        if let index = names.firstIndex(where: { $0.utf8.elementsEqual(upper) }) { return index + numbers.lowerBound }
        if text.isEmpty { throw error("a number is missing") }
        throw error(
            names.isEmpty ? "\(CronError.quote(text)) is no number" : "\(CronError.quote(text)) is no number or name")
    }

    /// The number of different values: Sunday's two numbers count once.
    private var cycle: Int { self == .dayOfWeek ? 7 : numbers.count }

    /// Returns every `step`th number of a run. A run whose last number is below its first goes on from the field's
    /// lowest number.
    private func mask(_ run: (first: Int, last: Int), step: Int) -> UInt64 {
        let last = run.last < run.first ? run.last + cycle : run.last
        return stride(from: run.first, through: last, by: step).reduce(0) { mask, number in
            mask | 1 << UInt64(number > numbers.upperBound ? number - cycle : number)
        }
    }

    private func run(_ text: ArraySlice<UInt8>) throws(CronError) -> (first: Int, last: Int) {
        if isStar(text) { return (numbers.lowerBound, numbers.upperBound) }
        if text.first == UInt8(ascii: "?") { throw error("? can only be a whole day field") }
        guard let dash = text.firstIndex(of: UInt8(ascii: "-")) else {
            let value = try value(text)
            return (value, value)
        }
        let first = try value(text[..<dash])
        let last = try value(text[(dash + 1)...])
        // Sunday ends a week as well as it begins one.
        if self == .dayOfWeek && last == 0 && first > 0 { return (first, 7) }
        return (first, last)
    }

    private func step(_ text: ArraySlice<UInt8>) throws(CronError) -> Int {
        guard let step = Self.number(text) else { throw error("the step \(CronError.quote(text)) is no number") }
        // A longer step would silently mean "once", as `*/90` minutes does elsewhere.
        guard (1...cycle).contains(step) else { throw error("the step \(step) is not in 1-\(cycle)") }
        return step
    }

    /// Reads a decimal number of one to nine digits; nil for any other text.
    static func number(_ text: ArraySlice<UInt8>) -> Int? {
        guard (1...9).contains(text.count) else { return nil }
        var number = 0
        for byte in text {
            guard isDigit(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    static func uppercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
    }
}
