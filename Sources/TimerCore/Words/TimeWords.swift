/// The times of a day in words.
struct TimeWords {
    /// The words: `at 09:00 and 17:30`, `every 15 minutes from 09:00 to 17:45`; empty for a set that lacks all parts.
    let text: String
    /// Whether the days precede the times, as in `every Monday at 09:00`.
    let followsDays: Bool
    /// Whether every hour of the day has times.
    let isInEveryHour: Bool

    /// The most times that are named one by one where other words would do.
    private static let mostTimes: Int64 = 6
    /// The most stretches of a day that are named by their first and last time.
    private static let mostStretches = 3
    private static let everyHour: UInt64 = 1 << 24 - 1
    private static let everySixtieth: UInt64 = 1 << 60 - 1

    /// - Parameter times: a set that may lack seconds, minutes or hours, which are then left out of the words.
    init(_ times: TimesOfDay, _ phrases: Phrases) {
        isInEveryHour = times.hours == Self.everyHour
        if (1...Self.mostTimes).contains(times.count) {
            text = Self.named((0..<times.count).map { times.time(at: $0) }, phrases)
        } else {
            text = Self.steps(times) ?? Self.parts(times, phrases)
        }
        followsDays = !text.hasPrefix("every ")
    }

    /// Describes times that are named one by one, in seconds since midnight.
    init(_ times: [Int64], _ phrases: Phrases) {
        text = Self.named(times, phrases)
        followsDays = true
        isInEveryHour = false
    }

    private static func named(_ times: [Int64], _ phrases: Phrases) -> String {
        "at " + phrases.list(times.map { Phrases.clock($0) })
    }

    /// Returns words for times that are evenly spaced over the day, or over stretches of it; nil for others.
    private static func steps(_ times: TimesOfDay) -> String? {
        let (hours, minutes, seconds) = (times.hours.members, times.minutes.members, times.seconds.members)
        if times.hours == everyHour, times.minutes == everySixtieth, seconds.first == 0, let step = divisor(seconds) {
            return every(step, "second")
        }
        guard let second = seconds.first, seconds.count == 1, let minute = minutes.first else { return nil }
        func time(_ hour: Int, _ minute: Int) -> Int64 { Int64(hour * 3600 + minute * 60 + second) }
        let stretches = Phrases.runs(of: hours)
        if let step = divisor(minutes) {
            let isWhole = times.hours == everyHour && minute == 0 && second == 0
            return stretches.count <= mostStretches
                ? every(step, "minute")
                    + stretched(
                        isWhole
                            ? []
                            : stretches.map { (time($0.lowerBound, minute), time($0.upperBound, 60 - step + minute)) })
                : nil
        }
        guard minutes.count == 1 else { return nil }
        if let step = Phrases.step(of: hours), let first = hours.first, let last = hours.last {
            let isWhole = times.hours == everyHour && minute == 0 && second == 0
            return every(step, "hour") + stretched(isWhole ? [] : [(time(first, minute), time(last, minute))])
        }
        guard stretches.count <= mostStretches, stretches.allSatisfy({ $0.count > 1 }) else { return nil }
        return every(1, "hour")
            + stretched(stretches.map { (time($0.lowerBound, minute), time($0.upperBound, minute)) })
    }

    /// Returns the distance between numbers that are evenly spaced over the whole of 0 to 59, and on from there; nil for
    /// others.
    private static func divisor(_ numbers: [Int]) -> Int? {
        guard let step = Phrases.step(of: numbers), step * numbers.count == 60 else { return nil }
        return step
    }

    private static func every(_ number: Int, _ unit: String) -> String {
        number == 1 ? "every \(unit)" : "every \(number) \(unit)s"
    }

    private static func stretched(_ stretches: [(first: Int64, last: Int64)]) -> String {
        guard !stretches.isEmpty else { return "" }
        let texts = stretches.map { "from \(Phrases.clock($0.first)) to \(Phrases.clock($0.last))" }
        return " " + Phrases(mostItems: texts.count).list(texts)
    }

    /// Returns words for each part of the times: `at minutes 5 and 10 of hours 9 to 17`.
    private static func parts(_ times: TimesOfDay, _ phrases: Phrases) -> String {
        var parts: [String] = []
        func add(_ set: UInt64, _ unit: String, all: UInt64) {
            guard set != 0 else { return }
            guard set != all else { return parts.append("every \(unit)") }
            parts.append((parts.isEmpty ? "at " : "") + phrases.numbers(set, unit))
        }
        // Second 0 of a minute goes without saying.
        if times.seconds != 1 || times.minutes == 0 { add(times.seconds, "second", all: everySixtieth) }
        add(times.minutes, "minute", all: everySixtieth)
        add(times.hours, "hour", all: everyHour)
        return parts.joined(separator: " of ")
    }
}
