// Reading a rule.
extension RecurrenceRule {
    /// The most bytes of a text; longer ones are refused.
    public static let textLimit = 512

    /// Reads a RECUR value, such as `FREQ=WEEKLY;INTERVAL=2;BYDAY=MO`, in upper or lower case; `RRULE:` may precede
    /// it.
    ///
    /// `SECONDLY`, `MINUTELY` and `HOURLY`, which RFC 5545 has too, are refused, and so is second 60.
    public init(_ text: [UInt8]) throws(RecurrenceError) {
        guard text.count <= Self.textLimit else {
            throw RecurrenceError("the rule has \(text.count) bytes, more than \(Self.textLimit)")
        }
        self.init()
        var given: Set<RecurrencePart> = []
        let value = try Self.value(of: text)
        for item in value.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            guard !item.isEmpty else { throw RecurrenceError("a part is empty: they are separated by one ;") }
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            let upper = String(decoding: name.map(CronField.uppercase), as: UTF8.self)
            guard let part = RecurrencePart(rawValue: upper) else {
                let names = RecurrencePart.allCases.map(\.rawValue).joined(separator: " ")
                throw RecurrenceError("\(CronError.quote(name)) is no part of a rule: they are \(names)")
            }
            guard name.count < item.count else { throw part.error("a value is missing") }
            guard given.insert(part).inserted else { throw part.error("this part is given twice") }
            try read(part, item.dropFirst(name.count + 1))
        }
        try check(given)
        if frequency == .daily, !positions.isEmpty { selectTimes() }
        let weeksMatter = frequency == .weekly && (interval > 1 || !positions.isEmpty) || !weeks.isEmpty
        if !weeksMatter { weekStart = 1 }
    }

    /// Returns the text without the name of the property.
    private static func value(of text: [UInt8]) throws(RecurrenceError) -> ArraySlice<UInt8> {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return text[...] }
        if text[..<colon].map(CronField.uppercase).elementsEqual("RRULE".utf8) { return text[(colon + 1)...] }
        let name = text[..<colon].prefix { $0 != UInt8(ascii: ";") }
        let instead =
            switch String(decoding: name.map(CronField.uppercase), as: UTF8.self) {
            case "DTSTART": "give it in the field `from`"
            case "RDATE": "give it in the field `rdates`"
            case "EXDATE": "give it in the field `exdates`"
            default: "only a recurrence rule is taken"
            }
        throw RecurrenceError("\(CronError.quote(text[..<colon])) before the : is not RRULE: \(instead)")
    }

    private mutating func read(_ part: RecurrencePart, _ text: ArraySlice<UInt8>) throws(RecurrenceError) {
        switch part {
        case .frequency: frequency = try Self.frequency(text)
        case .interval: interval = Int64(try part.number(text))
        case .count: end = .count(Int64(try part.number(text)))
        case .until: end = try part.end(text)
        case .weekStart: weekStart = try part.weekday(text)
        case .seconds, .minutes, .hours, .days, .monthDays, .yearDays, .weeks, .months, .positions:
            for item in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                guard !item.isEmpty else { throw part.error("\(CronError.quote(text)) has an empty item") }
                if part == .days { try readDay(item) } else { add(try part.number(item), to: part) }
            }
            sortLists()
        }
    }

    private static func frequency(_ text: ArraySlice<UInt8>) throws(RecurrenceError) -> Frequency {
        let upper = String(decoding: text.map(CronField.uppercase), as: UTF8.self)
        if let frequency = Frequency(rawValue: upper) { return frequency }
        let names = Frequency.allCases.map(\.rawValue).joined(separator: " ")
        guard ["SECONDLY", "MINUTELY", "HOURLY"].contains(upper) else {
            throw RecurrencePart.frequency.error("\(CronError.quote(text)) is none of \(names)")
        }
        throw RecurrencePart.frequency.error(
            "\(upper) is none of \(names): for periods below a day use the field `every` or `cron` instead of `rrule`")
    }

    /// Reads an item such as `MO`, `2MO` or `-1FR`.
    private mutating func readDay(_ item: ArraySlice<UInt8>) throws(RecurrenceError) {
        let weekday = try RecurrencePart.days.weekday(item.suffix(2))
        guard item.count > 2 else {
            weekdays |= 1 << UInt8(weekday)
            return
        }
        let ordinal = Ordinal(weekday: weekday, nth: try RecurrencePart.days.number(item.dropLast(2)))
        if !ordinals.contains(ordinal) { ordinals.append(ordinal) }
    }

    private mutating func add(_ number: Int, to part: RecurrencePart) {
        let bit: UInt64 = 1 << UInt64(number.magnitude % 64)
        switch part {
        case .seconds: times.seconds |= bit
        case .minutes: times.minutes |= bit
        case .hours: times.hours |= bit
        case .months: months |= bit
        case .monthDays: monthDays.insert(bit, isBackward: number < 0)
        case .weeks: weeks.insert(bit, isBackward: number < 0)
        case .yearDays: yearDays.append(Int64(number))
        case .positions where number < 0: positions.backward.append(Int64(number))
        case .positions: positions.forward.append(Int64(number))
        case .frequency, .interval, .count, .until, .days, .weekStart: break
        }
    }

    private mutating func sortLists() {
        yearDays = yearDays.ascending
        positions.forward = positions.forward.ascending
        positions.backward = positions.backward.ascending
        ordinals.sort { ($0.weekday, $0.nth) < ($1.weekday, $1.nth) }
    }

    /// Refuses parts that may not be together.
    private func check(_ given: Set<RecurrencePart>) throws(RecurrenceError) {
        guard given.contains(.frequency) else {
            throw RecurrencePart.frequency.error(
                "this part is missing: it is one of \(Frequency.allCases.map(\.rawValue).joined(separator: " "))")
        }
        if given.isSuperset(of: [.count, .until]) { throw RecurrencePart.count.error("not beside UNTIL") }
        if given.contains(.weeks), frequency != .yearly { throw RecurrencePart.weeks.error("only with FREQ=YEARLY") }
        if given.contains(.yearDays), frequency != .yearly {
            throw RecurrencePart.yearDays.error("only with FREQ=YEARLY")
        }
        if given.contains(.monthDays), frequency == .weekly {
            throw RecurrencePart.monthDays.error("not with FREQ=WEEKLY")
        }
        if !ordinals.isEmpty {
            guard frequency == .monthly || frequency == .yearly else {
                throw RecurrencePart.days.error("a number before the day only with FREQ=MONTHLY or FREQ=YEARLY")
            }
            if given.contains(.weeks) { throw RecurrencePart.days.error("no number before the day beside BYWEEKNO") }
        }
        let selectable: Set<RecurrencePart> = [
            .seconds, .minutes, .hours, .days, .monthDays, .yearDays, .weeks, .months,
        ]
        if given.contains(.positions), given.isDisjoint(with: selectable) {
            throw RecurrencePart.positions.error("this part needs another BY part, such as BYDAY")
        }
    }

    /// Applies `BYSETPOS` to the times of a day, which are the same on each day of a daily rule.
    private mutating func selectTimes() {
        // A part that the rule leaves open has one value, so the number of times is known without it.
        let total = [times.hours, times.minutes, times.seconds].reduce(1) { $0 * Int64(max($1.nonzeroBitCount, 1)) }
        var selected: [Int64] = []
        while let next = positions.first(notBefore: (selected.last ?? -1) + 1, of: total) { selected.append(next) }
        selectedTimes = selected
    }
}

extension RecurrenceRule.SignedNumbers {
    fileprivate mutating func insert(_ bit: UInt64, isBackward: Bool) {
        if isBackward { backward |= bit } else { forward |= bit }
    }
}
