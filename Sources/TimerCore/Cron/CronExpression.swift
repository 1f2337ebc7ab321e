import Primitives

/// A cron expression compiled into bit masks: the local times that it names, without a zone or an earliest instant.
///
/// Local times are seconds since 1970-01-01T00:00:00 by the clocks of some place; time zones are not known here. An
/// expression is a plain value, and searching it allocates nothing.
struct CronExpression: Sendable, Equatable {
    /// The seconds that match, bit n for the second n; minutes and hours alike.
    var seconds: UInt64 = 1
    var minutes: UInt64 = 0
    var hours: UInt64 = 0
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
            let time = time(notBefore: range.lowerBound - startDay * Self.day)
            if let time { return range.checked(startDay * Self.day + time) }
        }
        var later = ~UInt32(0) << UInt32(startDay - month.firstDay + 2)
        while month.firstDay * Self.day < range.upperBound {
            let mask = mask(month) & later
            if mask != 0 {
                let day = month.firstDay + Int64(mask.trailingZeroBitCount) - 1
                return range.checked(day * Self.day + firstTime)
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
            let time = time(before: range.upperBound - endDay * Self.day)
            if let time { return range.checked(endDay * Self.day + time) }
        }
        var earlier = (UInt32(1) << UInt32(endDay - month.firstDay + 1)) - 1
        while (month.firstDay + Int64(month.length)) * Self.day > range.lowerBound {
            let mask = mask(month) & earlier
            if mask != 0 {
                let day = month.firstDay + Int64(31 - mask.leadingZeroBitCount) - 1
                return range.checked(day * Self.day + lastTime)
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
        if matches(startDay, in: month) { count -= timesBefore(range.lowerBound - startDay * Self.day) }
        let endMonth = CivilMonth(holding: endDay)
        if matches(endDay, in: endMonth) { count += timesBefore(range.upperBound - endDay * Self.day) }
        // Every matching day of [startDay, endDay) in full.
        var days = -Self.days(of: mask(month), before: startDay - month.firstDay)
        while month.firstDay < endMonth.firstDay {
            days += Int64(mask(month).nonzeroBitCount)
            month.advance()
        }
        days += Self.days(of: mask(endMonth), before: endDay - endMonth.firstDay)
        return count + days * timesInDay
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

// Times of day, in seconds since midnight, local time.
extension CronExpression {
    private var timesInDay: Int64 {
        Int64(hours.nonzeroBitCount * minutes.nonzeroBitCount * seconds.nonzeroBitCount)
    }

    private var firstTime: Int64 {
        Int64(hours.trailingZeroBitCount * 3600 + minutes.trailingZeroBitCount * 60 + seconds.trailingZeroBitCount)
    }

    private var lastTime: Int64 { Int64(hours.highestBit * 3600 + minutes.highestBit * 60 + seconds.highestBit) }

    private func time(notBefore time: Int64) -> Int64? {
        let clock = ClockTime(time)
        if hours.has(clock.hour) {
            if minutes.has(clock.minute), let second = seconds.lowest(from: clock.second) {
                return clock.minuteStart + Int64(second)
            }
            if let minute = minutes.lowest(from: clock.minute + 1) {
                return clock.hourStart + Int64(minute * 60 + seconds.trailingZeroBitCount)
            }
        }
        guard let hour = hours.lowest(from: clock.hour + 1) else { return nil }
        return Int64(hour * 3600 + minutes.trailingZeroBitCount * 60 + seconds.trailingZeroBitCount)
    }

    private func time(before time: Int64) -> Int64? {
        let clock = ClockTime(time)
        if hours.has(clock.hour) {
            if minutes.has(clock.minute), let second = seconds.highest(below: clock.second) {
                return clock.minuteStart + Int64(second)
            }
            if let minute = minutes.highest(below: clock.minute) {
                return clock.hourStart + Int64(minute * 60 + seconds.highestBit)
            }
        }
        guard let hour = hours.highest(below: clock.hour) else { return nil }
        return Int64(hour * 3600 + minutes.highestBit * 60 + seconds.highestBit)
    }

    private func timesBefore(_ time: Int64) -> Int64 {
        let clock = ClockTime(time)
        var count = hours.count(below: clock.hour) * minutes.nonzeroBitCount * seconds.nonzeroBitCount
        if hours.has(clock.hour) {
            count += minutes.count(below: clock.minute) * seconds.nonzeroBitCount
            if minutes.has(clock.minute) { count += seconds.count(below: clock.second) }
        }
        return Int64(count)
    }

    /// A time of day in its parts. The end of a day, 24:00:00, is a time too.
    private struct ClockTime {
        let hour: Int
        let minute: Int
        let second: Int

        init(_ time: Int64) {
            let time = Int(time)
            hour = time / 3600
            minute = time / 60 % 60
            second = time % 60
        }

        var hourStart: Int64 { Int64(hour * 3600) }
        var minuteStart: Int64 { Int64(hour * 3600 + minute * 60) }
    }
}

extension UInt64 {
    fileprivate var highestBit: Int { 63 - leadingZeroBitCount }

    fileprivate func has(_ bit: Int) -> Bool { self & 1 << UInt64(bit) != 0 }

    /// Returns the lowest set bit at or above `bit`; nil when there is none.
    fileprivate func lowest(from bit: Int) -> Int? {
        let rest = self & ~0 << UInt64(bit)
        return rest == 0 ? nil : rest.trailingZeroBitCount
    }

    /// Returns the highest set bit below `bit`; nil when there is none.
    fileprivate func highest(below bit: Int) -> Int? {
        let rest = self & ((1 << UInt64(bit)) - 1)
        return rest == 0 ? nil : rest.highestBit
    }

    fileprivate func count(below bit: Int) -> Int { (self & ((1 << UInt64(bit)) - 1)).nonzeroBitCount }
}

extension Range<Int64> {
    /// Returns `value` if the range contains it, else nil.
    fileprivate func checked(_ value: Int64) -> Int64? { contains(value) ? value : nil }
}
