/// A recurrence rule of RFC 5545 (3.3.10), without the instant that its repetition starts from.
///
/// Sets are bit masks, bit n for the number n. An empty set or list stands for a part that the rule leaves open.
public struct RecurrenceRule: Sendable, Equatable {
    /// The length of a period.
    enum Frequency: String, Sendable, CaseIterable {
        case daily = "DAILY"
        case weekly = "WEEKLY"
        case monthly = "MONTHLY"
        case yearly = "YEARLY"
    }

    /// The end of the repetition. Seconds count from 1970.
    enum End: Sendable, Equatable {
        case never
        /// After so many instants.
        case count(Int64)
        /// After a second of local time, which is included.
        case local(Int64)
        /// After a second of UTC, which is included.
        case instant(Int64)
    }

    /// Numbers that count from the start, and those that count from the end.
    struct SignedNumbers: Sendable, Equatable {
        var forward: UInt64 = 0
        /// The bit n is the nth from the end; bit 1 is the last.
        var backward: UInt64 = 0

        var isEmpty: Bool { forward | backward == 0 }
    }

    /// A day of the week by its number in a month or year, such as the second Monday.
    struct Ordinal: Sendable, Equatable {
        /// 0 is Sunday.
        var weekday: Int
        /// Negative numbers count from the end; -1 is the last.
        var nth: Int
    }

    var frequency = Frequency.daily
    /// The number of periods from one that counts to the next; at least 1.
    var interval: Int64 = 1
    var end = End.never
    var times = TimesOfDay(seconds: 0, minutes: 0, hours: 0)
    var months: UInt64 = 0
    var monthDays = SignedNumbers()
    /// The days of the year, ascending; negative numbers count from its end.
    var yearDays: [Int64] = []
    var weeks = SignedNumbers()
    /// The days of the week without a number; 0 is Sunday.
    var weekdays: UInt8 = 0
    /// The days of the week with a number, in the order of the days and numbers.
    var ordinals: [Ordinal] = []
    var positions = Positions()
    /// The first day of a week; 0 is Sunday. Monday where it makes no difference.
    var weekStart = 1
    /// The times of day that `BYSETPOS` selects from a daily rule, by their index, ascending; nil for other rules.
    var selectedTimes: [Int64]?
}
