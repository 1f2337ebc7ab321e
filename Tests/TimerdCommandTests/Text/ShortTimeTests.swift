import Testing

@testable import TimerdCommand

struct ShortTimeTests {
    /// 2026-11-21T09:00:00Z.
    private let now: Int64 = 1_795_251_600_000

    @Test(arguments: [
        (0, "0s"), (1, "1ms"), (250, "250ms"), (999, "999ms"), (1000, "1s"), (42_900, "42s"), (59_999, "59s"),
        (60_000, "1m"), (239_999, "3m59s"), (3_600_000, "1h"), (3_659_999, "1h"), (3_660_000, "1h1m"),
        (86_399_999, "23h59m"), (86_400_000, "1d"), (181_800_000, "2d2h"), (-5, "0s"),
    ])
    func `a duration has its two largest units, rounded down`(milliseconds: Int64, text: String) {
        #expect(ShortTime.text(milliseconds) == text)
    }

    @Test(arguments: [("50h30m", "2d2h"), ("PT90S", "1m30s"), ("soon", "soon")])
    func `a duration of the API is shortened, and what is none is left`(duration: String, text: String) {
        #expect(ShortTime.duration(duration) == text)
    }

    @Test(arguments: [
        ("2026-11-21T09:04:00.000Z", "in 4m"), ("2026-11-21T09:00:00.000Z", "in 0s"),
        ("2026-11-21T08:59:59.750Z", "250ms ago"), ("2026-11-19T05:00:00.000Z", "2d4h ago"), ("then", "then"),
    ])
    func `an instant is told by how far it is`(instant: String, text: String) {
        #expect(ShortTime.distance(instant, now: now) == text)
    }

    @Test(arguments: [
        ("2026-11-21T09:04:00.123Z", "2026-11-21T09:04:00Z"), ("2026-11-21T09:04:00Z", "2026-11-21T09:04:00Z"),
        ("1.5", "1.5"),
    ])
    func `an instant loses its milliseconds`(instant: String, text: String) {
        #expect(ShortTime.second(instant) == text)
    }
}
