// Decimal digits, written.

extension [UInt8] {
    /// Appends `value` in decimal.
    @inline(__always)
    mutating func appendDecimal(_ value: Int64) {
        if value < 0 { append(Ascii.minus) }
        appendDecimal(value.magnitude)
    }

    /// Appends `value` in decimal.
    @inline(__always)
    mutating func appendDecimal(_ value: UInt64) {
        if value < 10 {
            append(Ascii.zero + UInt8(truncatingIfNeeded: value))
            return
        }
        var divisor: UInt64 = 10
        var count = 2
        while value / 10 >= divisor {
            divisor *= 10
            count += 1
        }
        append(addingCapacity: count) { output in
            var rest = value
            for _ in 0..<count {
                output.append(Ascii.zero + UInt8(truncatingIfNeeded: rest / divisor))
                rest %= divisor
                divisor /= 10
            }
        }
    }
}

extension OutputSpan<UInt8> {
    /// Appends the two digits of `value`, which is below 100.
    @inline(__always)
    mutating func appendPair(_ value: UInt32) {
        append(Ascii.zero + UInt8(truncatingIfNeeded: value / 10))
        append(Ascii.zero + UInt8(truncatingIfNeeded: value % 10))
    }
}
