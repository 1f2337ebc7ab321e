@testable import TimerCore

/// Input: a byte for the zone, eight for the instant to start from, the text of the expression.
func fuzzCron(_ input: [UInt8]) {
    guard input.count >= 9 else { return }
    let start = input[1..<9].reduce(Int64(0)) { $0 << 8 | Int64($1) }
    guard let schedule = try? CronSchedule(Array(input[9...]), zone: [], from: nil) else { return }
    requireOneOrder(.cron(schedule), after: start, in: zones[Int(input[0]) % zones.count])
}

/// Zones whose clocks change in each way: by an hour or half of one, at midnight, in the southern summer,
/// backwards, not at all.
let zones: [TimeZoneTable] = [
    "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "EET-2EEST,M4.5.5/0,M10.5.4/24",
    "IST-1GMT0,M10.5.0,M3.5.0/1", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "NPT-5:45",
].map { rule in
    guard let zone = TimeZoneTable(tzif: ruleFile(rule).span) else { fatalError("\(rule) is a rule") }
    return zone
}

/// A TZif file whose zone follows `rule` in every year.
private func ruleFile(_ rule: String) -> [UInt8] {
    // Counts of: universal and standard indicators, leap seconds, transitions, types, characters of names.
    let head = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
    let counts: [UInt8] = [0, 0, 0, 0, 1, 4].flatMap { (count: UInt8) -> [UInt8] in [0, 0, 0, count] }
    let block = head + counts + [UInt8](repeating: 0, count: 10)
    return block + block + Array("\n\(rule)\n".utf8)
}

/// Requires of a schedule that names its instants that they ascend, that `latest` agrees with repeated calls of `next`,
/// and that there are words for it.
func requireOneOrder(_ schedule: Schedule, after start: Int64, in zone: TimeZoneTable) {
    let text = "'\(String(decoding: schedule.expression ?? [], as: UTF8.self))'"
    requireWords(TimerRules(schedule), in: zone)
    let isCron = schedule.kind == .cron
    requireOneOrder(
        text, after: start,
        next: { instant in
            let next = schedule.next(after: instant, in: zone)
            require(!isCron || (next ?? 0) % 1000 == 0, "\(text): \(next ?? 0) is no whole second")
            return next
        }, latest: { schedule.latest(after: start, through: $0, in: zone) })
}

/// Requires that rules are described in one line of bounded length.
func requireWords(_ rules: TimerRules, in zone: TimeZoneTable) {
    for zone in [zone, nil] {
        let words = rules.words(in: zone)
        require((1...TimerRules.longestWords).contains(words.utf8.count), "'\(words)' are too many words, or none")
        require(words.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "'\(words)' is no line of text")
    }
}

/// Requires that instants ascend, and that `latest`, the last of those up to an end, agrees with repeated calls of `next`.
func requireOneOrder(
    _ text: String, after start: Int64, next: (Int64) -> Int64?, latest: (Int64) -> (instant: Int64, count: Int64)?
) {
    var fires: [Int64] = []
    var last = start
    while fires.count < 12, let next = next(last) {
        require(next > last, "\(text): \(next) is not after \(last)")
        fires.append(next)
        last = next
        let found = latest(next)
        require(found?.instant == next, "\(text): the latest up to \(next) is \(String(describing: found))")
        require(found?.count == Int64(fires.count), "\(text): \(fires) are counted as \(String(describing: found))")
        let before = latest(next - 1)
        require(before?.instant == fires.dropLast().last, "\(text): before \(next) is \(String(describing: before))")
    }
    guard fires.isEmpty else { return }
    require(latest(.max) == nil, "\(text): no next, but a latest")
}
