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

    /// Whether the name leads to the zone that a machine is set to, which another server that takes over may not be.
    static func isOfMachine(_ name: [UInt8]) -> Bool {
        ["localtime", "posixrules"].contains { name.elementsEqual($0.utf8) }
    }

    /// The most bytes of a name that is looked at; longer ones are no zone's.
    private static let nameLimit = 64

    private static func advice(_ name: [UInt8], _ zones: any ZoneSource) -> String? {
        guard (1...nameLimit).contains(name.count) else { return nil }
        let text = String(decoding: name, as: UTF8.self)
        if isOfMachine(name) {
            return "it differs from machine to machine: name the zone itself, such as Europe/Berlin"
        }
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

/// The spellings that an IANA name may have if only upper and lower case are wrong.
///
/// Names are written by a few habits, so that no list of all of them is needed: capitals alone (`UTC`, `EST5EDT`),
/// or each word with one capital, but for small words in the middle (`Africa/Dar_es_Salaam`) and a few irregular
/// ones.
enum ZoneSpelling {
    /// Returns the spellings to look up, the likeliest first.
    static func candidates(_ name: String) -> [String] {
        let lower = name.lowercased()
        // `US/Eastern` and `Brazil/DeNoronha` mix both habits, a part each.
        let parts = lower.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let capitalized = parts.map(spelled)
        var mixed = capitalized
        mixed[0] = mixed[0].uppercased()
        var capitals = capitalized
        capitals[capitals.count - 1] = parts[parts.count - 1].uppercased()
        return [capitalized, [lower.uppercased()], mixed, capitals].map { $0.joined(separator: "/") }
    }

    private static func spelled(_ part: String) -> String {
        if let irregular = irregulars[part] { return irregular }
        var result = ""
        var word = ""
        for character in part + "/" {
            if character.isLetter {
                word.append(character)
                continue
            }
            let isSmall = !result.isEmpty && character != "/" && smallWords.contains(word)
            result += isSmall ? word : word.prefix(1).uppercased() + word.dropFirst()
            word = ""
            if character != "/" { result.append(character) }
        }
        return result
    }

    private static let smallWords: Set = ["au", "es", "of"]

    /// Parts of names that follow no habit.
    private static let irregulars = [
        "comodrivadavia": "ComodRivadavia", "dumontdurville": "DumontDUrville", "mcmurdo": "McMurdo",
        "bajanorte": "BajaNorte", "bajasur": "BajaSur", "easterisland": "EasterIsland", "denoronha": "DeNoronha",
        "gb-eire": "GB-Eire", "nz-chat": "NZ-CHAT", "w-su": "W-SU", "knox_in": "Knox_IN",
    ]
}

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
