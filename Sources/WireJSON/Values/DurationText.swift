/// Durations as text; as numbers, milliseconds from 0 to ``maximum``.
public enum DurationText {
    /// 36,525 days, a century.
    public static let maximum: Int64 = 36_525 * day

    static let day: Int64 = 86_400_000
    static let hour: Int64 = 3_600_000
    static let minute: Int64 = 60_000
    static let second: Int64 = 1000

    /// Reads a duration, the text in `range` of `bytes`, in one of two forms.
    ///
    /// - Compact: numbers with the units `d` `h` `m` `s` `ms` in this order, each at most once: `250ms`, `1m30s`, `7d`.
    /// - ISO 8601: `PT1M30S`, `P1DT2H`, `P2W` (weeks alone), upper case. Years and months have no fixed length and are
    ///   refused.
    ///
    /// The last number may have a decimal fraction, `1.5h` or `PT1.5S`, as long as the whole is an exact number of
    /// milliseconds.
    /// - Throws: what is wrong, and what to write instead.
    public static func parse(_ bytes: [UInt8], _ range: Range<Int>) throws(TextError) -> Int64 {
        guard let first = bytes[range].first else {
            throw TextError(message: "an empty duration; write one such as 10s or 1m30s")
        }
        if first == ASCII.minus { throw TextError(message: "a duration can't be negative") }
        var reader = DurationReader(bytes, range)
        if first | 0x20 == UInt8(ascii: "p") { return try reader.readISO() }
        return try reader.readCompact()
    }

    /// Reads a duration that is all of `bytes`, as ``parse(_:_:)`` does.
    public static func parse(_ bytes: [UInt8]) throws(TextError) -> Int64 { try parse(bytes, 0..<bytes.count) }

    /// Whether a duration that ``parse(_:_:)`` reads is written with days or weeks.
    public static func isInDays(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.contains { $0 | 0x20 == UInt8(ascii: "d") || $0 | 0x20 == UInt8(ascii: "w") }
    }

    /// Appends a duration in its compact form, the largest unit first and no zero parts: `1d2h3m4s5ms`, `0s`.
    ///
    /// A negative one, which ``parse(_:_:)`` never yields, is written as `0s`.
    public static func append(_ milliseconds: Int64, to output: inout [UInt8]) {
        output.append(addingCapacity: longest) { append(milliseconds, to: &$0) }
    }

    /// Returns a duration as ``append(_:to:)-([UInt8])`` writes it.
    public static func text(_ milliseconds: Int64) -> String {
        var text: [UInt8] = []
        append(milliseconds, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The most bytes of a duration as it is written: a number and five units.
    static let longest = Decimal.longest + "d23h59m59s999ms".utf8.count

    /// Appends a duration in its compact form; a negative one is written as `0s`.
    ///
    /// - Parameter inHours: whether hours are the largest unit, not days.
    static func append(_ milliseconds: Int64, inHours: Bool = false, to output: inout OutputSpan<UInt8>) {
        guard milliseconds > 0 else { return output.append("0s") }
        var rest = UInt64(milliseconds)
        if !inHours { appendPart(&rest, day, "d", to: &output) }
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

/// Reads the parts of a duration, adding them up exactly.
struct DurationReader {
    /// The most digits after the point. More can't make whole milliseconds: a number that ends in no zero lacks
    /// the factor 2 or the factor 5, so the unit must have that factor once for each digit, and a week, the
    /// longest unit, is 2^10 · 5^5 · 189 milliseconds.
    private static let maximumFractionDigits = 10

    private var reader: DigitReader
    private var total: Int64 = 0
    /// The length of the last unit in milliseconds: the next must be shorter.
    private var lastUnit = Int64.max
    private var hadFraction = false

    /// A reader of the duration in `range` of `bytes`.
    init(_ bytes: [UInt8], _ range: Range<Int>) { reader = DigitReader(bytes, range) }

    /// Reads all of a duration such as `1m30s`.
    mutating func readCompact() throws(TextError) -> Int64 {
        repeat {
            let part = try readPart()
            try add(part, unit: try readUnit())
        } while !reader.isAtEnd
        return total
    }

    /// Reads all of a duration such as `PT1M30S`.
    mutating func readISO() throws(TextError) -> Int64 {
        guard reader.skip(UInt8(ascii: "P")) else { throw Self.lowerCaseISO }
        if !reader.isAtEnd, reader.next != UInt8(ascii: "T") {
            repeat {
                let part = try readPart()
                try add(part, unit: try readDateDesignator())
            } while !reader.isAtEnd && reader.next != UInt8(ascii: "T")
        }
        if reader.skip(UInt8(ascii: "T")) {
            guard lastUnit != Self.week else { throw Self.weeksAlone }
            lastUnit = min(lastUnit, DurationText.day)
            repeat {
                let part = try readPart()
                try add(part, unit: try readTimeDesignator())
            } while !reader.isAtEnd
        }
        guard lastUnit != Int64.max else { throw Self.shape }
        return total
    }

    private static let week = 7 * DurationText.day

    /// A number of a part: digits before the point (bounded by more than any duration has) and after it, the latter
    /// without trailing zeros.
    private struct Part {
        var whole: Int64 = 0
        var fraction: Int64 = 0
        var fractionScale: Int64 = 1
    }

    private mutating func readPart() throws(TextError) -> Part {
        if reader.next == ASCII.minus { throw TextError(message: "a duration can't be negative") }
        guard !hadFraction else { throw TextError(message: "only the last part of a duration may have a fraction") }
        var part = Part()
        guard let first = reader.digit() else { throw Self.shape }
        part.whole = first
        while let digit = reader.digit() {
            part.whole = min(part.whole * 10 + digit, DurationText.maximum + 1)
        }
        guard reader.skip(ASCII.dot) else { return part }
        hadFraction = true
        guard let tenths = reader.digit() else { throw Self.shape }
        var digits = 0
        var zeros = 0
        var next: Int64? = tenths
        while let digit = next {
            if digit == 0 {
                zeros += 1
            } else {
                digits += zeros + 1
                guard digits <= Self.maximumFractionDigits else { throw Self.tooFine }
                for _ in 0...zeros {
                    part.fraction *= 10
                    part.fractionScale *= 10
                }
                part.fraction += digit
                zeros = 0
            }
            next = reader.digit()
        }
        return part
    }

    private mutating func add(_ part: Part, unit: Int64) throws(TextError) {
        guard unit < lastUnit else {
            throw TextError(message: "the units of a duration go from long to short, each at most once")
        }
        lastUnit = unit
        guard part.whole <= DurationText.maximum / unit else { throw Self.tooLong }
        let (fraction, remainder) = (part.fraction * unit).quotientAndRemainder(dividingBy: part.fractionScale)
        guard remainder == 0 else { throw Self.tooFine }
        total += part.whole * unit + fraction
        guard total <= DurationText.maximum else { throw Self.tooLong }
    }

    private mutating func readUnit() throws(TextError) -> Int64 {
        if reader.skip(UInt8(ascii: "d")) { return DurationText.day }
        if reader.skip(UInt8(ascii: "h")) { return DurationText.hour }
        if reader.skip(UInt8(ascii: "s")) { return DurationText.second }
        if reader.skip(UInt8(ascii: "m")) {
            return reader.skip(UInt8(ascii: "s")) ? 1 : DurationText.minute
        }
        if reader.isAtEnd {
            throw TextError(message: "the number has no unit; write d, h, m, s or ms after it, as in 10s")
        }
        throw Self.shape
    }

    private mutating func readDateDesignator() throws(TextError) -> Int64 {
        if reader.skip(UInt8(ascii: "D")) {
            guard lastUnit != Self.week else { throw Self.weeksAlone }
            return DurationText.day
        }
        if reader.skip(UInt8(ascii: "W")) {
            guard lastUnit == Int64.max else { throw Self.weeksAlone }
            return Self.week
        }
        switch reader.next {
        case UInt8(ascii: "Y"), UInt8(ascii: "M"):
            throw TextError(message: "years and months have no fixed length; write days, as in P30D or 30d")
        case UInt8(ascii: "H"), UInt8(ascii: "S"):
            throw TextError(message: "hours, minutes and seconds of an ISO 8601 duration follow a T, as in PT10S")
        case UInt8(ascii: "d"), UInt8(ascii: "w"), UInt8(ascii: "y"), UInt8(ascii: "m"), UInt8(ascii: "t"):
            throw Self.lowerCaseISO
        default:
            throw Self.shape
        }
    }

    private mutating func readTimeDesignator() throws(TextError) -> Int64 {
        if reader.skip(UInt8(ascii: "H")) { return DurationText.hour }
        if reader.skip(UInt8(ascii: "M")) { return DurationText.minute }
        if reader.skip(UInt8(ascii: "S")) { return DurationText.second }
        switch reader.next {
        case UInt8(ascii: "h"), UInt8(ascii: "m"), UInt8(ascii: "s"): throw Self.lowerCaseISO
        default: throw Self.shape
        }
    }

    private static var shape: TextError {
        TextError(message: "not a duration such as 250ms, 1m30s, 7d or PT1M30S")
    }

    private static var lowerCaseISO: TextError {
        TextError(message: "an ISO 8601 duration is written in upper case, as in PT1M30S")
    }

    private static var weeksAlone: TextError {
        TextError(message: "weeks of an ISO 8601 duration stand alone, as in P2W; write days instead")
    }

    private static var tooFine: TextError { TextError(message: "a duration can't be finer than a millisecond") }

    private static var tooLong: TextError { TextError(message: "a duration can't be over 36525 days") }
}
