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
