/// Sizes as a person writes them.
enum ByteSize {
    /// The largest size, 1 EiB: no single device stores more.
    static let maximum = 1 << 60

    private static let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("B", 1)]

    /// Reads `1GiB`, `512MiB`, `64KiB`, `100B`: a whole number and its unit. Returns nil for anything else.
    static func parse(_ text: Substring) -> Int? {
        guard let (name, unit) = units.first(where: { text.hasSuffix($0.0) }) else { return nil }
        let digits = text.dropLast(name.count)
        guard let first = digits.utf8.first, (0x30...0x39).contains(first), let number = Int(digits),
            number <= maximum / unit
        else { return nil }
        return number * unit
    }
}
