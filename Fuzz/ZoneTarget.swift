import TimerCore

/// Input: a byte for the schedule, five for the second to start from, a TZif file.
func fuzzZone(_ input: [UInt8]) {
    guard input.count >= 6 else { return }
    let bytes = Array(input[6...])
    guard let zone = TimeZoneTable(tzif: bytes.span) else { return }
    // About the years 10 to 9999 and a little on either side.
    let start = input[1..<6].reduce(Int64(0)) { $0 << 8 | Int64($1) } % 320_000_000_000 - 64_000_000_000
    // Instants are given in milliseconds, so these are the outermost seconds.
    for instant in [start, Int64.min / 1000, Int64.max / 1000, 0] {
        require((-89_999...93_599).contains(zone.offset(at: instant)), "the offset at \(instant) is out of range")
    }
    requireOneOrder(.cron(schedules[Int(input[0]) % schedules.count]), after: start * 1000, in: zone)
}

private let schedules: [CronSchedule] = [
    "30 2 * * *", "*/7 * * * *", "0 0 29 2 *", "59 59 23 L * *", "0,30 0-3 * * MON#1", "* * * * * *",
].map { text in
    guard let schedule = try? CronSchedule(Array(text.utf8), zone: [], from: nil) else { fatalError(text) }
    return schedule
}
