/// The local times of one period of a rule: its days, each with all times of day, less those that `BYSETPOS` does not
/// select.
///
/// A time is found by its index, which is that of its day multiplied by the number of times in a day, plus that of its
/// time of day; so that no period costs more than its days, however many times a day has.
struct RecurrencePeriod {
    let days: DaySet
    let times: SelectedTimes
    let positions: Positions
    /// The number of times before `BYSETPOS`.
    private let total: Int64

    init(days: DaySet, times: SelectedTimes, positions: Positions) {
        self.days = days
        self.times = times
        self.positions = positions
        total = days.count * times.count
    }

    /// The number of times.
    var count: Int64 { positions.count(before: total, of: total) }

    /// Returns the first time that is not before `local`; nil when there is none.
    func first(notBefore local: Int64) -> Int64? {
        guard let index = positions.first(notBefore: index(of: local), of: total) else { return nil }
        let (day, time) = index.quotientAndRemainder(dividingBy: times.count)
        return days.day(at: day) * CronExpression.day + times.time(at: time)
    }

    /// Returns the number of times in `range`.
    func count(in range: Range<Int64>) -> Int64 {
        positions.count(before: index(of: range.upperBound), of: total)
            - positions.count(before: index(of: range.lowerBound), of: total)
    }

    /// Returns how many times there are before `local`, before `BYSETPOS`.
    private func index(of local: Int64) -> Int64 {
        let day = floorDivide(local, CronExpression.day)
        let index = days.count(before: day) * times.count
        return days.contains(day) ? index + times.count(before: local - day * CronExpression.day) : index
    }
}

/// Times of day, or some of them by their index.
struct SelectedTimes {
    let all: TimesOfDay
    /// The indexes of the times, ascending; nil stands for all.
    let selected: [Int64]?
    /// The number of times.
    let count: Int64

    init(_ all: TimesOfDay, selected: [Int64]?) {
        self.all = all
        self.selected = selected
        count = selected.map { Int64($0.count) } ?? all.count
    }

    /// Returns the number of times before `time`, in seconds since midnight.
    func count(before time: Int64) -> Int64 {
        let count = all.count(before: time)
        return selected.map { Int64($0.count(through: count - 1)) } ?? count
    }

    /// Returns the time that comes after `index` others, in seconds since midnight.
    func time(at index: Int64) -> Int64 { all.time(at: selected.map { $0[Int(index)] } ?? index) }
}
