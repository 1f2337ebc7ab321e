import TimerCore

extension Benchmark {
    /// Cron and recurrence rules in a zone that changes its clocks.
    static let cron = [
        Benchmark("cron.next-minute") { next($0, "* * * * *") },
        Benchmark("cron.next-weekday") { next($0, "0 9 * * MON-FRI") },
        Benchmark("cron.parse") { count in
            let text = Array("0 9 * * MON-FRI".utf8)
            var parsed = 0
            for _ in 0..<count where (try? CronSchedule(text, zone: [], from: nil)) != nil { parsed += 1 }
            require(parsed == count, "the expression was refused")
            return parsed
        },
        Benchmark("cron.next-of-old-rule") { count in
            let text = Array("FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR;COUNT=5000".utf8)
            guard let read = try? RecurrenceSchedule(text, zone: [], from: 0), let zone = middleEurope else {
                require(false, "the rule is refused, or the zone")
                return 0
            }
            // A schedule is bounded once, when it is read.
            let rule = read.bounded(in: zone)
            var sum = 0
            for index in 0..<count { sum += Int(rule.next(after: Sample.wall + Int64(index), in: zone) ?? 0) }
            require(sum > 0, "the rule is due no more")
            return sum
        },
    ]

    private static func next(_ count: Int, _ text: String) -> Int {
        let schedule = try? CronSchedule(Array(text.utf8), zone: [], from: nil)
        guard let schedule, let zone = middleEurope else {
            require(false, "'\(text)' is refused, or the zone")
            return 0
        }
        var instant = Sample.wall
        for _ in 0..<count { instant = schedule.next(after: instant, in: zone) ?? 0 }
        require(instant > Sample.wall, "'\(text)' is due no more")
        return Int(instant)
    }

    private static let middleEurope = TimeZoneTable(tzif: rule("CET-1CEST,M3.5.0,M10.5.0/3").span)

    /// A TZif file whose zone follows `rule` in every year: the machine's own files change with their versions.
    private static func rule(_ rule: String) -> [UInt8] {
        // Counts of: universal and standard indicators, leap seconds, transitions, types, characters of names.
        let counts: [UInt8] = [0, 0, 0, 0, 1, 4].flatMap { [0, 0, 0, $0] as [UInt8] }
        let head = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
        let block = head + counts + [UInt8](repeating: 0, count: 10)
        return block + block + Array("\n\(rule)\n".utf8)
    }
}
