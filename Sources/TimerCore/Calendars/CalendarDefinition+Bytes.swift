// The bytes of a calendar in the log.
extension CalendarDefinition {
    /// Appends the definition:
    ///
    /// ```
    /// zone       its length, then its bytes
    /// week       the intervals of seven days, Sunday's first
    /// dates      their number; for each the distance from the date before (the first: from 1970-01-01), signed, then
    ///            its intervals
    /// ```
    ///
    /// The intervals of a day are their number, and for each two distances: of its start from the end before (from the
    /// midnight of the day), and of its end from its start. All numbers are varints.
    public func encode(into bytes: inout [UInt8]) {
        ByteCoding.append(run: zone, to: &bytes)
        for intervals in week { Self.append(intervals, to: &bytes) }
        ByteCoding.append(UInt64(dates.count), to: &bytes)
        var last: Int64 = 0
        for date in dates {
            ByteCoding.append(signed: date.day - last, to: &bytes)
            Self.append(date.intervals, to: &bytes)
            last = date.day
        }
    }

    /// Reads what `encode` wrote; nil for any other bytes, so that a damaged definition is refused as a whole.
    public init?(decoding bytes: Span<UInt8>) {
        var offset = 0
        guard let zone = ByteCoding.readRun(bytes, &offset) else { return nil }
        var week: [[Interval]] = []
        for _ in 0..<7 {
            guard let intervals = Self.readIntervals(bytes, &offset) else { return nil }
            week.append(intervals)
        }
        guard week.contains(where: { !$0.isEmpty }), let count = ByteCoding.read(bytes, &offset),
            count <= UInt64(Self.dateLimit)
        else { return nil }
        var dates: [Date] = []
        for _ in 0..<count {
            guard let distance = ByteCoding.readSigned(bytes, &offset),
                let intervals = Self.readIntervals(bytes, &offset)
            else { return nil }
            let (day, isOver) = (dates.last?.day ?? 0).addingReportingOverflow(distance)
            guard !isOver, Self.days.contains(day), dates.isEmpty || distance > 0 else { return nil }
            dates.append(Date(day: day, intervals: intervals))
        }
        guard offset == bytes.count else { return nil }
        self.init(zone: zone, week: week, dates: dates)
    }

    /// The days that a date can be: those of the years 0 to 9999.
    private static let days: ClosedRange<Int64> = -719_528...2_932_896

    private static func append(_ intervals: [Interval], to bytes: inout [UInt8]) {
        ByteCoding.append(UInt64(intervals.count), to: &bytes)
        var last: Int64 = 0
        for interval in intervals {
            ByteCoding.append(UInt64(interval.start - last), to: &bytes)
            ByteCoding.append(UInt64(interval.end - interval.start), to: &bytes)
            last = interval.end
        }
    }

    private static func readIntervals(_ bytes: Span<UInt8>, _ offset: inout Int) -> [Interval]? {
        guard let count = ByteCoding.read(bytes, &offset), count <= UInt64(intervalLimit) else { return nil }
        var intervals: [Interval] = []
        let day = CronExpression.day
        for index in 0..<count {
            let last = intervals.last?.end ?? 0
            // Intervals that meet are one, and each begins on its own day.
            guard let gap = ByteCoding.read(bytes, &offset), index == 0 || gap > 0, gap < UInt64(day),
                let length = ByteCoding.read(bytes, &offset), length > 0, length < UInt64(2 * day)
            else { return nil }
            let interval = Interval(start: last + Int64(gap), end: last + Int64(gap) + Int64(length))
            guard interval.start < day, interval.end < 2 * day else { return nil }
            intervals.append(interval)
        }
        return intervals
    }
}
