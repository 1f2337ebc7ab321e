import Primitives

/// Instants as RFC 3339 text, such as `2026-11-21T09:00:00.000Z`; as numbers, milliseconds since 1970.
///
/// The range is that of four-digit years in UTC: ``minimum`` to ``maximum``.
public enum RFC3339 {
    /// 0000-01-01T00:00:00.000Z.
    public static let minimum: Int64 = -62_167_219_200_000
    /// 9999-12-31T23:59:59.999Z.
    public static let maximum: Int64 = 253_402_300_799_999

    private static let millisecondsInDay: Int64 = 86_400_000

    /// Reads an instant, the text in `range` of `bytes`.
    ///
    /// The date must exist. `T` and `Z` may be lower case. Fractions of a second may have any number of digits; what
    /// is finer than a millisecond is rounded up to the next one, so that an instant is never early.
    /// - Throws: what is wrong: no offset, a leap second, an instant out of range in UTC, or simply another shape.
    public static func parse(_ bytes: [UInt8], _ range: Range<Int>) throws(TextError) -> Int64 {
        var reader = DigitReader(bytes, range)
        guard let year = reader.number(4), reader.skip(ASCII.minus), let month = reader.number(2),
            reader.skip(ASCII.minus), let day = reader.number(2), reader.skip(letter: UInt8(ascii: "t")),
            let hour = reader.number(2), reader.skip(ASCII.colon), let minute = reader.number(2),
            reader.skip(ASCII.colon), let second = reader.number(2)
        else { throw shapeError }
        guard let date = CivilDate(year: year, month: month, day: day) else {
            throw TextError(message: "the calendar has no such date")
        }
        guard second != 60 else { throw TextError(message: "second 60 (a leap second) is not supported") }
        guard hour <= 23, minute <= 59, second <= 59 else {
            throw TextError(message: "the time of day must be 00:00:00 to 23:59:59")
        }
        let fraction = try parseFraction(&reader)
        let offset = try parseOffset(&reader)
        guard reader.isAtEnd else { throw shapeError }
        let minutes = (date.daysSince1970 * 24 + hour) * 60 + minute - offset
        let instant = (minutes * 60 + second) * 1000 + fraction
        guard instant >= minimum, instant <= maximum else {
            throw TextError(message: "the instant is outside the years 0000 to 9999 in UTC")
        }
        return instant
    }

    /// Reads an instant that is all of `bytes`, as ``parse(_:_:)`` does.
    public static func parse(_ bytes: [UInt8]) throws(TextError) -> Int64 { try parse(bytes, 0..<bytes.count) }

    /// Appends an instant in UTC with milliseconds: 24 bytes, such as `2026-11-21T09:00:00.000Z`.
    ///
    /// Milliseconds outside ``minimum`` to ``maximum`` are written as the nearer of the two.
    public static func append(_ milliseconds: Int64, to output: inout [UInt8]) {
        output.append(addingCapacity: count) { append(milliseconds, to: &$0) }
    }

    /// Returns an instant as ``append(_:to:)-([UInt8])`` writes it.
    public static func text(_ milliseconds: Int64) -> String {
        var text: [UInt8] = []
        append(milliseconds, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The number of bytes of an instant as it is written.
    static let count = 24

    /// Appends an instant in UTC with milliseconds, one outside ``minimum`` to ``maximum`` as the nearer of the
    /// two.
    @inline(__always)
    static func append(_ milliseconds: Int64, to text: inout OutputSpan<UInt8>) {
        // The count starts at the year 0, so that nothing below is negative.
        let instant = UInt64(truncatingIfNeeded: min(max(milliseconds, minimum), maximum) - minimum)
        let days = instant / UInt64(millisecondsInDay)
        let date = CivilDate(daysSince1970: Int64(days) + minimum / millisecondsInDay)
        let ofDay = UInt32(truncatingIfNeeded: instant % UInt64(millisecondsInDay))
        let seconds = ofDay / 1000
        let milliseconds = ofDay % 1000
        let year = UInt32(truncatingIfNeeded: date.year)
        text.appendPair(year / 100)
        text.appendPair(year % 100)
        text.append(ASCII.minus)
        text.appendPair(UInt32(truncatingIfNeeded: date.month))
        text.append(ASCII.minus)
        text.appendPair(UInt32(truncatingIfNeeded: date.day))
        text.append(UInt8(ascii: "T"))
        text.appendPair(seconds / 3600)
        text.append(ASCII.colon)
        text.appendPair(seconds / 60 % 60)
        text.append(ASCII.colon)
        text.appendPair(seconds % 60)
        text.append(ASCII.dot)
        text.append(ASCII.zero + UInt8(truncatingIfNeeded: milliseconds / 100))
        text.appendPair(milliseconds % 100)
        text.append(UInt8(ascii: "Z"))
    }

    private static var shapeError: TextError {
        TextError(message: "not an RFC 3339 instant such as 2026-11-21T09:00:00Z or 2026-11-21T10:00:00.5+01:00")
    }

    /// Reads the fraction of a second in milliseconds, rounded up: 0 to 1000.
    private static func parseFraction(_ reader: inout DigitReader) throws(TextError) -> Int64 {
        guard reader.skip(ASCII.dot) else { return 0 }
        var milliseconds: Int64 = 0
        var isFiner = false
        var count = 0
        while let digit = reader.digit() {
            if count < 3 { milliseconds = milliseconds * 10 + digit } else if digit != 0 { isFiner = true }
            count += 1
        }
        guard count > 0 else { throw shapeError }
        while count < 3 {
            milliseconds *= 10
            count += 1
        }
        return isFiner ? milliseconds + 1 : milliseconds
    }

    /// Reads the offset in minutes east of UTC.
    private static func parseOffset(_ reader: inout DigitReader) throws(TextError) -> Int64 {
        if reader.isAtEnd {
            throw TextError(message: "the offset from UTC is missing: end with Z or with an offset such as +02:00")
        }
        if reader.skip(letter: UInt8(ascii: "z")) { return 0 }
        let isWest = reader.skip(ASCII.minus)
        guard isWest || reader.skip(ASCII.plus), let hours = reader.number(2), reader.skip(ASCII.colon),
            let minutes = reader.number(2)
        else { throw shapeError }
        guard hours <= 23, minutes <= 59 else {
            throw TextError(message: "the offset from UTC must be within 23:59")
        }
        return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }
}
