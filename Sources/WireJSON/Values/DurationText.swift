/// Durations as text; as numbers, milliseconds from 0 to ``maximum``.
public enum DurationText {
    /// 36,525 days, a century.
    public static let maximum: Int64 = 36_525 * day

    static let day: Int64 = 86_400_000
    static let hour: Int64 = 3_600_000
    static let minute: Int64 = 60_000
    static let second: Int64 = 1000

    /// Reads a duration in one of two forms.
    ///
    /// - Compact: numbers with the units `d` `h` `m` `s` `ms` in this order, each at most once: `250ms`, `1m30s`, `7d`.
    /// - ISO 8601: `PT1M30S`, `P1DT2H`, `P2W` (weeks alone), upper case. Years and months have no fixed length and are
    ///   refused.
    ///
    /// The last number may have a decimal fraction, `1.5h` or `PT1.5S`, as long as the whole is an exact number of
    /// milliseconds.
    /// - Throws: what is wrong, and what to write instead.
    public static func parse(_ bytes: [UInt8]) throws(TextError) -> Int64 {
        guard let first = bytes.first else {
            throw TextError(message: "an empty duration; write one such as 10s or 1m30s")
        }
        if first == ASCII.minus { throw TextError(message: "a duration can't be negative") }
        var reader = DurationReader(bytes)
        if first | 0x20 == UInt8(ascii: "p") { return try reader.readISO() }
        return try reader.readCompact()
    }

    /// Appends a duration in its compact form, the largest unit first and no zero parts: `1d2h3m4s5ms`, `0s`.
    ///
    /// A negative one, which ``parse(_:)`` never yields, is written as `0s`.
    public static func append(_ milliseconds: Int64, to output: inout [UInt8]) {
        output.append(addingCapacity: longest) { append(milliseconds, to: &$0) }
    }

    /// The most bytes of a duration as it is written: a number and five units.
    static let longest = Decimal.longest + "d23h59m59s999ms".utf8.count

    /// Appends a duration in its compact form; a negative one is written as `0s`.
    static func append(_ milliseconds: Int64, to output: inout OutputSpan<UInt8>) {
        guard milliseconds > 0 else { return output.append("0s") }
        var rest = UInt64(milliseconds)
        appendPart(&rest, day, "d", to: &output)
        appendPart(&rest, hour, "h", to: &output)
        appendPart(&rest, minute, "m", to: &output)
        appendPart(&rest, second, "s", to: &output)
        appendPart(&rest, 1, "ms", to: &output)
    }

    @inline(__always)
    private static func appendPart(
        _ rest: inout UInt64, _ unit: Int64, _ name: StaticString, to output: inout OutputSpan<UInt8>
    ) {
        guard rest >= UInt64(unit) else { return }
        output.appendDecimal(rest / UInt64(unit))
        output.append(name)
        rest %= UInt64(unit)
    }
}
