/// Decimal numbers as text.
enum Decimal {
    /// The most bytes a number takes: the sign and 19 digits, or 20 digits.
    static let longest = 20
}

extension OutputSpan<UInt8> {
    /// Appends `value` in decimal, at most 20 bytes.
    @inline(__always)
    package mutating func appendDecimal(_ value: Int64) {
        if value < 0 { append(ASCII.minus) }
        appendDecimal(value.magnitude)
    }

    /// Appends `value` in decimal, at most 20 bytes.
    @inline(__always)
    mutating func appendDecimal(_ value: UInt64) {
        var divisor: UInt64 = 1
        while value / 10 >= divisor { divisor *= 10 }
        var rest = value
        while divisor > 0 {
            append(ASCII.zero + UInt8(truncatingIfNeeded: rest / divisor))
            rest %= divisor
            divisor /= 10
        }
    }

    /// Appends the two digits of `value`, which is below 100.
    @inline(__always)
    mutating func appendPair(_ value: UInt32) {
        append(ASCII.zero + UInt8(truncatingIfNeeded: value / 10))
        append(ASCII.zero + UInt8(truncatingIfNeeded: value % 10))
    }
}
