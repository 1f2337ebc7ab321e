/// An offset from UTC that was given in the place of a time zone's name: `+02:00`, `-0530`, `UTC+2`, `GMT-3`.
struct ZoneOffset {
    private let isWest: Bool
    private let hours: Int
    private let minutes: Int

    /// Reads an offset; nil for any other text.
    init?(_ text: String) {
        var rest = Array(text.utf8)
        let prefix = rest.prefix(3).map(CronField.uppercase)
        if prefix.elementsEqual("UTC".utf8) || prefix.elementsEqual("GMT".utf8) { rest.removeFirst(3) }
        guard let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
        let digits = rest.dropFirst()
        let parts = digits.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let hourCount = parts.count == 1 && digits.count > 2 ? digits.count - 2 : parts[0].count
        guard parts.count <= 2, (1...2).contains(hourCount), parts.count == 1 || parts[1].count == 2,
            let hours = CronField.number(digits.prefix(hourCount)), hours < 24
        else { return nil }
        let tail = parts.count == 2 ? parts[1] : digits.dropFirst(hourCount)
        guard let minutes = tail.isEmpty ? 0 : CronField.number(tail), minutes < 60 else { return nil }
        (isWest, self.hours, self.minutes) = (sign == UInt8(ascii: "-"), hours, minutes)
    }

    /// The advice to give a zone's name instead, with that of the same offset if there is one.
    var advice: String {
        let start = "zones have IANA names, such as Europe/Berlin, and follow summer time, which an offset does not"
        if hours == 0 && minutes == 0 { return "\(start), or UTC" }
        // Zones exist for whole hours, from 14 in the east to 12 in the west; the signs in their names are those of
        // POSIX.
        guard minutes == 0, hours <= (isWest ? 12 : 14) else { return start }
        return "\(start); that offset in all the year is Etc/GMT\(isWest ? "+" : "-")\(hours)"
    }
}
