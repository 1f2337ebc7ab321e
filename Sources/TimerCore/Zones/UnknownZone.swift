/// The error that there is no time zone of a name, with the name that was probably meant.
public struct UnknownZone: Error, Sendable, Equatable {
    /// The line, such as ``there is no time zone `europe/berlin`; did you mean Europe/Berlin``, of visible
    /// characters and spaces, at most some 200.
    public let message: String

    /// - Parameters:
    ///   - name: the name as a client gave it; not in `zones`.
    ///   - zones: the source in which names that may be meant are looked up, a few at most.
    public init(_ name: [UInt8], in zones: any ZoneSource) {
        let text = CronError.quote(name).dropFirst().dropLast()
        message = "there is no time zone `\(text)`" + (Self.advice(name, zones).map { "; \($0)" } ?? "")
    }

    /// The most bytes of a name that is looked at; longer ones are no zone's.
    private static let nameLimit = 64

    private static func advice(_ name: [UInt8], _ zones: any ZoneSource) -> String? {
        guard (1...nameLimit).contains(name.count) else { return nil }
        let text = String(decoding: name, as: UTF8.self)
        if let meant = ZoneSpelling.candidates(text).first(where: { zones.zone(named: Array($0.utf8)) != nil }) {
            return "did you mean \(meant)"
        }
        if let offset = ZoneOffset(text) { return offset.advice }
        if text.hasSuffix(" Standard Time") || text.hasSuffix(" Daylight Time") || text.hasSuffix(" Summer Time") {
            return "zones have IANA names, not those of Windows: \(Self.windows(text) ?? "such as Europe/Berlin")"
        }
        let isAbbreviation = (1...5).contains(name.count) && text.allSatisfy { $0.isASCII && $0.isLetter }
        guard isAbbreviation else { return nil }
        let meant = abbreviations[text.uppercased()] ?? "such as Europe/Berlin"
        return "zones have IANA names, not abbreviations, which name only summer or winter time: \(meant)"
    }

    private static func windows(_ text: String) -> String? {
        let words = text.split(separator: " ").dropLast(2)
        return windowsNames[words.joined(separator: " ")]
    }

    /// The common names of Windows, without their last two words; after CLDR's table for the world.
    private static let windowsNames = [
        "GMT": "Europe/London", "W. Europe": "Europe/Berlin", "Central Europe": "Europe/Budapest",
        "Romance": "Europe/Paris", "Central European": "Europe/Warsaw", "E. Europe": "Europe/Chisinau",
        "FLE": "Europe/Kyiv", "GTB": "Europe/Bucharest", "Russian": "Europe/Moscow", "Turkey": "Europe/Istanbul",
        "Eastern": "America/New_York", "Central": "America/Chicago", "Mountain": "America/Denver",
        "US Mountain": "America/Phoenix", "Pacific": "America/Los_Angeles", "Atlantic": "America/Halifax",
        "Alaskan": "America/Anchorage", "Hawaiian": "Pacific/Honolulu", "E. South America": "America/Sao_Paulo",
        "SA Pacific": "America/Bogota", "Argentina": "America/Buenos_Aires", "South Africa": "Africa/Johannesburg",
        "Egypt": "Africa/Cairo", "Israel": "Asia/Jerusalem", "Arab": "Asia/Riyadh", "Arabian": "Asia/Dubai",
        "India": "Asia/Kolkata", "SE Asia": "Asia/Bangkok", "China": "Asia/Shanghai", "Singapore": "Asia/Singapore",
        "Tokyo": "Asia/Tokyo", "Korea": "Asia/Seoul", "AUS Eastern": "Australia/Sydney",
        "New Zealand": "Pacific/Auckland",
    ]

    /// The zones of abbreviations that are no zones themselves; for one that several places share, the most
    /// populous zone's city.
    private static let abbreviations = [
        "Z": "UTC", "BST": "Europe/London", "WEST": "Europe/Lisbon", "CEST": "Europe/Berlin", "MEZ": "Europe/Berlin",
        "MESZ": "Europe/Berlin", "EEST": "Europe/Athens", "MSK": "Europe/Moscow", "EDT": "America/New_York",
        "CST": "America/Chicago", "CDT": "America/Chicago", "MDT": "America/Denver", "PST": "America/Los_Angeles",
        "PDT": "America/Los_Angeles", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "KST": "Asia/Seoul",
        "AEST": "Australia/Sydney", "AEDT": "Australia/Sydney", "NZST": "Pacific/Auckland", "NZDT": "Pacific/Auckland",
    ]
}
