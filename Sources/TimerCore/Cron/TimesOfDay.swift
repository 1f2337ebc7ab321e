/// A set of times of day: each hour, minute and second of three sets, combined. Times are seconds since midnight by the
/// clocks of some place.
struct TimesOfDay: Sendable, Equatable {
    /// The seconds that match, bit n for the second n; minutes and hours alike.
    var seconds: UInt64 = 1
    var minutes: UInt64 = 0
    var hours: UInt64 = 0

    /// The number of times in a day.
    var count: Int64 {
        Int64(hours.nonzeroBitCount * minutes.nonzeroBitCount * seconds.nonzeroBitCount)
    }

    /// The first time.
    var first: Int64 {
        Int64(hours.trailingZeroBitCount * 3600 + minutes.trailingZeroBitCount * 60 + seconds.trailingZeroBitCount)
    }

    /// The last time.
    var last: Int64 { Int64(hours.highestBit * 3600 + minutes.highestBit * 60 + seconds.highestBit) }

    /// Returns the first time that is not before `time`; nil when there is none.
    func time(notBefore time: Int64) -> Int64? {
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

    /// Returns the last time before `time`; nil when there is none.
    func time(before time: Int64) -> Int64? {
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

    /// Returns the number of times before `time`, which may be the end of the day.
    func count(before time: Int64) -> Int64 {
        let clock = ClockTime(time)
        var count = hours.count(below: clock.hour) * minutes.nonzeroBitCount * seconds.nonzeroBitCount
        if hours.has(clock.hour) {
            count += minutes.count(below: clock.minute) * seconds.nonzeroBitCount
            if minutes.has(clock.minute) { count += seconds.count(below: clock.second) }
        }
        return Int64(count)
    }

    /// Returns the time that comes after `index` others; `index` is below `count`.
    func time(at index: Int64) -> Int64 {
        let (minuteIndex, second) = Int(index).quotientAndRemainder(dividingBy: seconds.nonzeroBitCount)
        let (hour, minute) = minuteIndex.quotientAndRemainder(dividingBy: minutes.nonzeroBitCount)
        return Int64(hours.setBit(hour) * 3600 + minutes.setBit(minute) * 60 + seconds.setBit(second))
    }

    /// Whether the set has times in a minute, counted from midnight.
    func hasMinute(_ minute: Int64) -> Bool { hours.has(Int(minute / 60)) && minutes.has(Int(minute % 60)) }

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

// Sets of numbers below 64, bit n for the number n.
extension UInt64 {
    fileprivate var highestBit: Int { 63 - leadingZeroBitCount }

    /// Whether the bit is set.
    func has(_ bit: Int) -> Bool { self & 1 << UInt64(bit) != 0 }

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

    /// Returns the set bit that comes after `index` lower ones.
    func setBit(_ index: Int) -> Int {
        var rest = self
        for _ in 0..<index { rest &= rest - 1 }
        return rest.trailingZeroBitCount
    }

    fileprivate func count(below bit: Int) -> Int { (self & ((1 << UInt64(bit)) - 1)).nonzeroBitCount }
}
