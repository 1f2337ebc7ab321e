import WireJSON

/// An instant in the local time of a time zone.
enum LocalTime {
    /// Returns the instant by RFC 3339, in whole seconds: `2026-11-23T09:00:00+01:00`, or with `Z` where `offset`
    /// is 0.
    ///
    /// Offsets from before standard time have seconds, which ISO 8601 can express and RFC 3339 can't.
    ///
    /// - Parameters:
    ///   - instant: wall milliseconds.
    ///   - offset: seconds ahead of UTC.
    static func text(_ instant: Int64, offset: Int64) -> [UInt8] {
        var text: [UInt8] = []
        RFC3339.append(instant + offset * 1000, to: &text)
        // The milliseconds, which cron does not have, and the Z are removed.
        text.removeLast(".000Z".utf8.count)
        guard offset != 0 else { return text + "Z".utf8 }
        let seconds = offset.magnitude
        let parts = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { ($0 < 10 ? "0" : "") + String($0) }
        return text + ((offset < 0 ? "-" : "+") + parts.prefix(seconds % 60 == 0 ? 2 : 3).joined(separator: ":")).utf8
    }
}
