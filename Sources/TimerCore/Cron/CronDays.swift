/// The two day fields of a cron expression and how they combine. Sets are bit masks: bit n stands for the number n.
struct CronDays: Sendable, Equatable {
    /// Days of the month, 1 to 31.
    var days: UInt32 = 0
    /// `L` and `L-n`: bit n is the day n days before the month's last.
    var daysBeforeLast: UInt32 = 0
    /// `15W`: the weekday (Monday to Friday) nearest to the day, within the month.
    var nearestWeekdays: UInt32 = 0
    /// `LW`: the month's last weekday.
    var lastWeekday = false

    /// Days of the week; 0 is Sunday.
    var weekdays: UInt8 = 0
    /// `FRIL`: the month's last of a day of the week.
    var lastOfWeekdays: UInt8 = 0
    /// `MON#2`: the element n, 1 to 5, has the days of the week whose nth in the month is meant.
    var nthWeekdays = NthWeekdays()

    /// Whether a day must match both fields, as when either begins with `*`; otherwise one of them is enough.
    var bothMustMatch = true

    /// Returns the days of the month that match, bit n for the day n, in a month of `length` days whose first is
    /// `firstWeekday`.
    func mask(length: Int, firstWeekday: Int) -> UInt32 {
        let all = UInt32(truncatingIfNeeded: (UInt64(1) << (length + 1)) - 2)
        let byMonth = monthMask(length: length, firstWeekday: firstWeekday) & all
        let byWeek = weekMask(length: length, firstWeekday: firstWeekday) & all
        return bothMustMatch ? byMonth & byWeek : byMonth | byWeek
    }

    private func monthMask(length: Int, firstWeekday: Int) -> UInt32 {
        var mask = days
        if daysBeforeLast != 0 {
            for before in 0..<length where daysBeforeLast & 1 << UInt32(before) != 0 {
                mask |= 1 << UInt32(length - before)
            }
        }
        if lastWeekday { mask |= 1 << UInt32(Self.weekday(nearest: length, length, firstWeekday)) }
        if nearestWeekdays != 0 {
            for day in 1...length where nearestWeekdays & 1 << UInt32(day) != 0 {
                mask |= 1 << UInt32(Self.weekday(nearest: day, length, firstWeekday))
            }
        }
        return mask
    }

    private func weekMask(length: Int, firstWeekday: Int) -> UInt32 {
        var mask = Self.mask(of: weekdays, firstWeekday: firstWeekday)
        if nthWeekdays.isEmpty && lastOfWeekdays == 0 { return mask }
        for nth in 1...5 { mask |= Self.rotate(nthWeekdays[nth], by: firstWeekday) << UInt32(7 * nth - 6) }
        // The last seven days begin with the weekday of the day after the month.
        let lastWeek = Self.rotate(lastOfWeekdays, by: firstWeekday + length)
        return mask | lastWeek << UInt32(length - 6)
    }

    /// Returns the days of a month, bit n for the day n, that are one of `weekdays`. The days of the next month are in
    /// it too.
    static func mask(of weekdays: UInt8, firstWeekday: Int) -> UInt32 {
        // Seven bits, one a day of the week, repeated: bit 0 of a rotated week is the weekday of the month's first.
        UInt32(truncatingIfNeeded: (UInt64(rotate(weekdays, by: firstWeekday)) &* 0x8_1020_4081) << 1)
    }

    /// Returns the days of `week` as of a week that begins with the weekday `first`, bit 0 for its first day.
    static func rotate(_ week: UInt8, by first: Int) -> UInt32 {
        let shift = UInt32(first % 7)
        let bits = UInt32(week)
        return (bits >> shift | bits << (7 - shift)) & 0x7F
    }

    private static func weekday(nearest day: Int, _ length: Int, _ firstWeekday: Int) -> Int {
        switch (firstWeekday + day - 1) % 7 {
        case 6: day == 1 ? 3 : day - 1
        case 0: day == length ? day - 2 : day + 1
        default: day
        }
    }

    /// Days of the week for each n from 1 to 5; an array would be on the heap.
    struct NthWeekdays: Sendable, Equatable {
        private var bits: UInt64 = 0

        var isEmpty: Bool { bits == 0 }

        /// The days of the week whose nth in the month is meant; `nth` is 1 to 5.
        subscript(nth: Int) -> UInt8 {
            get { UInt8(truncatingIfNeeded: bits >> UInt64(nth * 8)) }
            set {
                let place = UInt64(nth * 8)
                bits = bits & ~(0xFF << place) | UInt64(newValue) << place
            }
        }
    }
}
