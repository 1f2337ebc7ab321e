import Primitives

/// A cron expression compiled into bit masks: the local times that it names, without a zone or an earliest instant.
///
/// Local times are seconds since 1970-01-01T00:00:00 by the clocks of some place; time zones are not known here. An
/// expression is a plain value, and searching it allocates nothing.
struct CronExpression: Sendable, Equatable {
    var times = TimesOfDay()
    /// The months that match, bits 1 to 12.
    var months: UInt64 = 0
    var days = CronDays()
    /// Whether the hour or minute field begins with `*` or with a range that covers the field: such schedules follow
    /// elapsed time across a change of offset.
    var followsElapsedTime = false

    /// The seconds of a day of local time.
    static let day: Int64 = 86_400

    /// Whether any date matches. Within 400 years a month has every combination of its length and the weekday of
    /// its first, so those are all there is to try.
    var canFire: Bool {
        for month in 1...12 where months & 1 << UInt64(month) != 0 {
            for leap in [false, true] {
                for firstWeekday in 0..<7 {
                    let length = Int(CivilDate.days(ofMonth: Int64(month), isLeap: leap))
                    if days.mask(length: length, firstWeekday: firstWeekday) != 0 { return true }
                }
            }
        }
        return false
    }

    /// Returns the first match in `range`.
    func first(in range: Range<Int64>) -> Int64? {
        guard !range.isEmpty else { return nil }
        let startDay = floorDivide(range.lowerBound, Self.day)
        var month = CivilMonth(holding: startDay)
        // The first day counts from the range's start on.
        if matches(startDay, in: month) {
            let time = times.time(notBefore: range.lowerBound - startDay * Self.day)
            if let time { return range.checked(startDay * Self.day + time) }
        }
        var later = ~UInt32(0) << UInt32(startDay - month.firstDay + 2)
        while month.firstDay * Self.day < range.upperBound {
            let mask = mask(month) & later
            if mask != 0 {
                let day = month.firstDay + Int64(mask.trailingZeroBitCount) - 1
                return range.checked(day * Self.day + times.first)
            }
            later = ~0
            month.advance()
        }
        return nil
    }

    /// Returns the last match in `range`.
    func last(in range: Range<Int64>) -> Int64? {
        guard !range.isEmpty else { return nil }
        let endDay = floorDivide(range.upperBound - 1, Self.day)
        var month = CivilMonth(holding: endDay)
        if matches(endDay, in: month) {
            let time = times.time(before: range.upperBound - endDay * Self.day)
            if let time { return range.checked(endDay * Self.day + time) }
        }
        var earlier = (UInt32(1) << UInt32(endDay - month.firstDay + 1)) - 1
        while (month.firstDay + Int64(month.length)) * Self.day > range.lowerBound {
            let mask = mask(month) & earlier
            if mask != 0 {
                let day = month.firstDay + Int64(31 - mask.leadingZeroBitCount) - 1
                return range.checked(day * Self.day + times.last)
            }
            earlier = ~0
            month.retreat()
        }
        return nil
    }

    /// Returns how many matches there are in `range`. Whole days are multiplied, not walked.
    func count(in range: Range<Int64>) -> Int64 {
        guard !range.isEmpty else { return 0 }
        let startDay = floorDivide(range.lowerBound, Self.day)
        let endDay = floorDivide(range.upperBound, Self.day)
        var month = CivilMonth(holding: startDay)
        var count: Int64 = 0
        if matches(startDay, in: month) { count -= times.count(before: range.lowerBound - startDay * Self.day) }
        let endMonth = CivilMonth(holding: endDay)
        if matches(endDay, in: endMonth) { count += times.count(before: range.upperBound - endDay * Self.day) }
        // Every matching day of [startDay, endDay) in full.
        var days = -Self.days(of: mask(month), before: startDay - month.firstDay)
        while month.firstDay < endMonth.firstDay {
            days += Int64(mask(month).nonzeroBitCount)
            month.advance()
        }
        days += Self.days(of: mask(endMonth), before: endDay - endMonth.firstDay)
        return count + days * times.count
    }

    /// Returns the matching days of a month, bit n for the day n.
    private func mask(_ month: CivilMonth) -> UInt32 {
        guard months & 1 << UInt64(month.month) != 0 else { return 0 }
        return days.mask(length: month.length, firstWeekday: month.firstWeekday)
    }

    private func matches(_ day: Int64, in month: CivilMonth) -> Bool {
        mask(month) & 1 << UInt32(day - month.firstDay + 1) != 0
    }

    /// Returns how many days of `mask` come before the day `offset` days after the month's first.
    private static func days(of mask: UInt32, before offset: Int64) -> Int64 {
        Int64((mask & ((1 << UInt32(offset + 1)) - 1)).nonzeroBitCount)
    }
}

extension Range<Int64> {
    /// Returns `value` if the range contains it, else nil.
    fileprivate func checked(_ value: Int64) -> Int64? { contains(value) ? value : nil }
}

// Reading an expression.
extension CronExpression {
    /// The most bytes of a text; longer ones are refused.
    static let textLimit = 256

    /// The expressions that have a name, with the fields that each name means.
    private static let nicknames = [
        ("@YEARLY", "0 0 1 1 *"), ("@ANNUALLY", "0 0 1 1 *"), ("@MONTHLY", "0 0 1 * *"), ("@WEEKLY", "0 0 * * 0"),
        ("@DAILY", "0 0 * * *"), ("@MIDNIGHT", "0 0 * * *"), ("@HOURLY", "0 * * * *"),
    ]

    /// Reads five fields, six with seconds first, or a name such as `@daily`.
    ///
    /// - Parameter isStored: whether the text was accepted before, by rules that may have been looser.
    init(_ text: [UInt8], isStored: Bool) throws(CronError) {
        guard text.count <= Self.textLimit else {
            throw CronError("the expression has \(text.count) bytes, more than \(Self.textLimit)")
        }
        do throws(CronError) {
            try self.init(reading: text, isStored: isStored)
        } catch {
            throw CronError(foreign: text) ?? error
        }
    }

    private init(reading text: [UInt8], isStored: Bool) throws(CronError) {
        self.init()
        let words = try Self.words(of: text)
        guard words.count == 5 || words.count == 6 else {
            throw CronError("5 fields are needed, or 6 with seconds first; there are \(words.count)")
        }
        for (field, word) in zip(CronField.allCases.suffix(words.count), words) { try read(field, word) }
        let fields = words.suffix(5).map(\.self)
        let (dayOfMonth, dayOfWeek) = (fields[2], fields[4])
        followsElapsedTime =
            CronField.minute.isUnrestricted(fields[0]) || CronField.hour.isUnrestricted(fields[1])
        days.bothMustMatch =
            CronField.dayOfMonth.startsWithStar(dayOfMonth) || CronField.dayOfWeek.startsWithStar(dayOfWeek)
        if !isStored { try Self.requireNames(dayOfWeek, besideDayOfMonth: dayOfMonth) }
        guard canFire else { throw CronError("this can never fire: no month it names has such a day") }
    }

    /// Returns the fields of a text, or those that its name means.
    private static func words(of text: [UInt8]) throws(CronError) -> [ArraySlice<UInt8>] {
        let words = text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let word = words.first, word.first == UInt8(ascii: "@") else { return words }
        guard words.count == 1 else { throw CronError("after \(CronError.quote(word)) nothing may follow") }
        return try fields(ofNickname: word).split(separator: UInt8(ascii: " "))
    }

    private static func fields(ofNickname word: ArraySlice<UInt8>) throws(CronError) -> [UInt8] {
        let upper = word.map(CronField.uppercase)
        if let found = nicknames.first(where: { $0.0.utf8.elementsEqual(upper) }) { return Array(found.1.utf8) }
        if upper.elementsEqual("@REBOOT".utf8) {
            throw CronError("@reboot: the start of a machine is no instant of the calendar")
        }
        throw CronError(
            "\(CronError.quote(word)) is none of @yearly @annually @monthly @weekly @daily @midnight @hourly")
    }

    /// Refuses numbers of days of the week beside `?` for the day of month. Only Quartz and its relatives need that
    /// `?`, and they count days from SUN = 1: the expression would be read without an error, and be a day late.
    private static func requireNames(
        _ word: ArraySlice<UInt8>, besideDayOfMonth dayOfMonth: ArraySlice<UInt8>
    ) throws(CronError) {
        guard dayOfMonth.contains(UInt8(ascii: "?")) else { return }
        let hasNumber = word.split(separator: UInt8(ascii: ",")).contains { item in
            item.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "#") }.contains(where: CronField.isDigit)
        }
        guard hasNumber else { return }
        throw CronField.dayOfWeek.error(
            "\(CronError.quote(word)) beside ? for the day of month: use names such as MON-FRI, as Quartz counts from "
                + "SUN = 1 and cron from SUN = 0")
    }

    private mutating func read(_ field: CronField, _ word: ArraySlice<UInt8>) throws(CronError) {
        var mask: UInt64 = 0
        for item in word.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            guard !item.isEmpty else { throw field.error("\(CronError.quote(word)) has an empty item") }
            switch field {
            case .dayOfMonth where try days.readMonthDay(item, field): break
            case .dayOfWeek where try days.readWeekday(item, field): break
            default: mask |= try field.mask(ofItem: item)
            }
        }
        switch field {
        case .second: times.seconds = mask
        case .minute: times.minutes = mask
        case .hour: times.hours = mask
        case .dayOfMonth: days.days = UInt32(truncatingIfNeeded: mask)
        case .month: months = mask
        case .dayOfWeek: days.weekdays = UInt8(truncatingIfNeeded: mask & 0x7F | mask >> 7)
        }
    }
}

extension CronDays {
    /// Reads an item that only a day of the month can be: `L`, `L-3`, `LW`, `15W`. Returns false for any other item.
    fileprivate mutating func readMonthDay(_ item: ArraySlice<UInt8>, _ field: CronField) throws(CronError) -> Bool {
        let upper = item.map(CronField.uppercase)[...]
        if upper.elementsEqual("L".utf8) {
            daysBeforeLast |= 1
        } else if upper.elementsEqual("LW".utf8) {
            lastWeekday = true
        } else if upper.starts(with: "L-".utf8) {
            let before = upper.dropFirst(2)
            guard let number = CronField.number(before), (1...30).contains(number) else {
                throw field.error("\(CronError.quote(item)): the last but \(CronError.quote(before)) is not in 1-30")
            }
            daysBeforeLast |= 1 << UInt32(number)
        } else if upper.last == UInt8(ascii: "W") {
            nearestWeekdays |= 1 << UInt32(try field.value(item.dropLast()))
        } else {
            return false
        }
        return true
    }

    /// Reads an item that only a day of the week can be: `MON#2`, `FRIL`. Returns false for any other item.
    fileprivate mutating func readWeekday(_ item: ArraySlice<UInt8>, _ field: CronField) throws(CronError) -> Bool {
        if let hash = item.firstIndex(of: UInt8(ascii: "#")) {
            let weekday = try field.value(item[..<hash]) % 7
            guard let nth = CronField.number(item[(hash + 1)...]), (1...5).contains(nth) else {
                throw field.error("\(CronError.quote(item)): # is followed by a number in 1-5")
            }
            nthWeekdays[nth] |= 1 << UInt8(weekday)
        } else if item.last.map(CronField.uppercase) == UInt8(ascii: "L") {
            guard item.count > 1 else { throw field.error("L follows a day of the week, as in FRIL") }
            lastOfWeekdays |= 1 << UInt8(try field.value(item.dropLast()) % 7)
        } else {
            return false
        }
        return true
    }
}
