import WireJSON

/// Durations and instants in short form, for a person.
enum ShortTime {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Returns the two largest units, rounded down: `2d4h`, `3m59s`, `42s`, `250ms`.
    static func text(_ milliseconds: Int64) -> String {
        guard let first = units.firstIndex(where: { milliseconds >= $0.milliseconds }) else { return "0s" }
        let unit = units[first]
        var text = "\(milliseconds / unit.milliseconds)\(unit.name)"
        // Milliseconds beside seconds are of no use to a person.
        guard first < 3, milliseconds % unit.milliseconds >= units[first + 1].milliseconds else { return text }
        let next = units[first + 1]
        text += "\(milliseconds % unit.milliseconds / next.milliseconds)\(next.name)"
        return text
    }

    /// Returns a duration of the API, shortened; text that is none is returned as it is.
    static func duration(_ text: String) -> String {
        do throws(TextError) { return self.text(try DurationText.parse(Array(text.utf8))) } catch { return text }
    }

    /// Returns the distance from `now`, in wall milliseconds, to an instant of the API: `in 4m`, `2d4h ago`.
    static func distance(_ instant: String, now: Int64) -> String {
        do throws(TextError) {
            let ahead = try RFC3339.parse(Array(instant.utf8)) - now
            return ahead >= 0 ? "in \(text(ahead))" : "\(text(-ahead)) ago"
        } catch {
            return instant
        }
    }

    /// Returns an instant of the API without its milliseconds: `2026-11-21T09:04:00Z`.
    static func second(_ instant: String) -> String {
        guard instant.hasSuffix("Z"), let point = instant.lastIndex(of: ".") else { return instant }
        return instant[..<point] + "Z"
    }
}

/// Sizes in short form, for a person.
enum ShortSize {
    private static let units = ["B", "KiB", "MiB", "GiB", "TiB"]

    /// Returns the size rounded down, with a decimal below 100 KiB, MiB, …: `512 B`, `1.4 MiB`, `250 GiB`.
    static func text(_ bytes: Int64) -> String {
        var tenths = min(bytes, .max / 10) * 10
        var unit = 0
        while tenths >= 10240, unit + 1 < units.count {
            tenths /= 1024
            unit += 1
        }
        let isRound = unit == 0 || tenths >= 1000
        return "\(tenths / 10)" + (isRound ? "" : ".\(tenths % 10)") + " \(units[unit])"
    }
}
