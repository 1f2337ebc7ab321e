public import TimerCore

extension CalendarContent {
    /// A calendar that is open on Mondays, in these intervals of UTC.
    public static func mondays(_ intervals: String...) throws(CalendarError) -> CalendarContent {
        let week: [CalendarDefinition.Entry] = [(key: Array("mon".utf8), intervals: intervals.map { Array($0.utf8) })]
        let texts = intervals.map { "\"\($0)\"" }.joined(separator: ",")
        return CalendarContent(
            try CalendarDefinition(zone: Array("UTC".utf8), week: week, dates: []),
            week: Array("{\"mon\":[\(texts)]}".utf8), dates: Array("{}".utf8))
    }
}

extension TimerClock {
    /// The clocks of timers that go by no calendar.
    public static let withoutCalendar = allCases.filter { $0 != .working }
}
