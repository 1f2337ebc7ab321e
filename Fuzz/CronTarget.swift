import TimerCore

/// Input: a byte for the zone, eight for the instant to start from, the text of the expression.
func fuzzCron(_ input: [UInt8]) {
    guard input.count >= 9 else { return }
    let start = input[1..<9].reduce(Int64(0)) { $0 << 8 | Int64($1) }
    guard let schedule = try? CronSchedule(Array(input[9...]), zone: [], from: nil) else { return }
    requireOneOrder(schedule, after: start, in: zones[Int(input[0]) % zones.count])
}

/// Zones whose clocks change in each way: by an hour or half of one, at midnight, in the southern summer,
/// backwards, not at all.
private let zones: [TimeZoneTable] = [
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

/// Requires that instants ascend, and that `latest` agrees with repeated calls of `next`.
func requireOneOrder(_ schedule: CronSchedule, after start: Int64, in zone: TimeZoneTable) {
    let text = String(decoding: schedule.text, as: UTF8.self)
    var fires: [Int64] = []
    var last = start
    while fires.count < 12, let next = schedule.next(after: last, in: zone) {
        require(next > last, "'\(text)': \(next) is not after \(last)")
        require(next % 1000 == 0, "'\(text)': \(next) is no whole second")
        fires.append(next)
        last = next
        let latest = schedule.latest(after: start, through: next, in: zone)
        require(latest?.instant == next, "'\(text)': the latest up to \(next) is \(String(describing: latest))")
        require(latest?.count == Int64(fires.count), "'\(text)': \(fires) are counted as \(String(describing: latest))")
        let before = schedule.latest(after: start, through: next - 1, in: zone)
        require(before?.instant == fires.dropLast().last, "'\(text)': before \(next) is \(String(describing: before))")
    }
    guard fires.isEmpty else { return }
    require(schedule.latest(after: start, through: .max, in: zone) == nil, "'\(text)': no next, but a latest")
}
