import TestSupport
import Testing

@testable import TimerCore

/// Calendars as the log keeps them.
struct CalendarCodecTests {
    private func encoded(_ definition: CalendarDefinition) -> [UInt8] {
        var bytes: [UInt8] = []
        definition.encode(into: &bytes)
        return bytes
    }

    private let definition: CalendarDefinition

    init() throws {
        definition = try CalendarDefinition(
            "Europe/Berlin",
            week: ["mon-fri": ["09:00-12:30", "13:30-18:00"], "sat": ["00:00-24:00"], "sun": ["23:59:59-23:59:58"]],
            dates: ["0000-01-01": ["22:00-02:00"], "2026-12-24/2026-12-26": [], "9999-12-31": ["00:00-00:00"]])
    }

    @Test func `a calendar is read as it was written`() {
        #expect(CalendarDefinition(decoding: encoded(definition).span) == definition)
    }

    @Test func `a calendar that is cut short or goes on is none`() {
        let bytes = encoded(definition)
        for count in 0..<bytes.count { #expect(CalendarDefinition(decoding: Array(bytes[..<count]).span) == nil) }
        #expect(CalendarDefinition(decoding: (bytes + [0]).span) == nil)
    }

    @Test func `of damaged bytes only a calendar is read`() {
        var random = SeededGenerator(seed: 3)
        let bytes = encoded(definition)
        for _ in 0..<5000 {
            let damaged = random.mutation(of: bytes)
            guard let read = CalendarDefinition(decoding: damaged.span) else { continue }
            #expect(CalendarDefinition(decoding: encoded(read).span) == read)
            #expect(read.week.contains { !$0.isEmpty })
            for intervals in read.week + read.dates.map(\.intervals) {
                #expect(intervals.allSatisfy { $0.start < $0.end && $0.start < 86_400 && $0.end < 172_800 })
                #expect(zip(intervals, intervals.dropFirst()).allSatisfy { $0.end < $1.start })
            }
            #expect(zip(read.dates, read.dates.dropFirst()).allSatisfy { $0.day < $1.day })
        }
    }
}
