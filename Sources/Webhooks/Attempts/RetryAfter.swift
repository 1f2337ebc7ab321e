import Primitives

/// Reads the response header `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date.
public enum RetryAfter {
    private static let longestValue = 64
    /// The most seconds that are read; a longer wait is beyond any cap.
    private static let mostSeconds: Int64 = 1_000_000_000
    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longWeekdays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the milliseconds from `nowMs` (since 1970) that `value` asks to wait, never negative; nil where it
    /// can't be read.
    public static func milliseconds(_ value: [UInt8], nowMs: Int64) -> Int64? {
        let text = String(decoding: value.prefix(longestValue + 1), as: UTF8.self).split(
            separator: " ", omittingEmptySubsequences: true)
        guard value.count <= longestValue, let first = text.first else { return nil }
        if text.count == 1 { return number(first).map { min($0, mostSeconds) * 1000 } }
        return date(text, nowMs: nowMs).map { max($0 - nowMs, 0) }
    }

    /// Returns the milliseconds since 1970 of a date in one of the three forms of RFC 9110 section 5.6.7, split at
    /// blanks: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
    static func date(_ words: [Substring], nowMs: Int64) -> Int64? {
        switch words.count {
        case 6 where words[5] == "GMT" && isWeekday(words[0], weekdays, comma: true):
            guard words[1].count == 2, words[3].count == 4 else { return nil }
            return instant(day: words[1], month: words[2], year: number(words[3]), time: words[4])
        case 5 where isWeekday(words[0], weekdays, comma: false):
            guard words[4].count == 4 else { return nil }
            return instant(day: words[2], month: words[1], year: number(words[4]), time: words[3])
        case 4 where words[3] == "GMT" && isWeekday(words[0], longWeekdays, comma: true):
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0].count == 2, parts[2].count == 2, let year = number(parts[2]) else {
                return nil
            }
            // Two digits mean the latest such year that is no more than 50 years ahead.
            let latest = CivilDate(daysSince1970: nowMs / 86_400_000).year + 50
            let full = latest - ((latest - year) % 100 + 100) % 100
            return instant(day: parts[0], month: parts[1], year: full, time: words[2])
        default: return nil
        }
    }

    private static func isWeekday(_ word: Substring, _ names: [String], comma: Bool) -> Bool {
        names.contains { word == (comma ? "\($0)," : $0) }
    }

    private static func instant(day: Substring, month: Substring, year: Int64?, time: Substring) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let day = number(day), let month = months.firstIndex(of: String(month)), let year, clock.count == 3,
            clock.allSatisfy({ $0.count == 2 }), let hour = number(clock[0]), hour <= 23,
            let minute = number(clock[1]), minute <= 59, let second = number(clock[2]), second <= 60,
            (0...9999).contains(year), let date = CivilDate(year: year, month: Int64(month) + 1, day: day)
        else { return nil }
        return (((date.daysSince1970 * 24 + hour) * 60 + minute) * 60 + second) * 1000
    }

    /// Returns the number of a run of digits, `Int64.max` where it is larger; nil for anything else.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int64(text) ?? .max
    }
}
