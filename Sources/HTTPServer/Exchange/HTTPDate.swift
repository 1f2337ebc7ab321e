import Primitives

/// The value of `Date` (RFC 9110, 5.6.7), made once a second.
struct HTTPDate {
    private var second: Int64 = -1
    private var text: [UInt8] = []

    /// The value for `second`, which counts from 1970.
    mutating func bytes(second: Int64) -> [UInt8] {
        if second != self.second {
            self.second = second
            text = Self.format(second)
        }
        return text
    }

    private static func format(_ second: Int64) -> [UInt8] {
        let days = second / 86_400
        let date = CivilDate(daysSince1970: days)
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]  // 1970 began on a Thursday
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let time = second % 86_400
        let dayText = "\(weekdays[Int(days % 7)]), \(two(date.day)) \(months[Int(date.month - 1)]) \(date.year)"
        return Array("\(dayText) \(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT".utf8)
    }

    private static func two(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
