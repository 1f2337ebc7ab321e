import Testing

@testable import TimerdCommand

struct LocalTimeTests {
    @Test(arguments: [
        (0, "2030-01-01T00:00:00Z"), (3600, "2030-01-01T01:00:00+01:00"), (-14_400, "2029-12-31T20:00:00-04:00"),
        (19_800, "2030-01-01T05:30:00+05:30"), (-1521, "2029-12-31T23:34:39-00:25:21"),
    ])
    func `local time has its offset`(offset: Int64, text: String) {
        #expect(String(decoding: LocalTime.text(1_893_456_000_000, offset: offset), as: UTF8.self) == text)
    }
}
