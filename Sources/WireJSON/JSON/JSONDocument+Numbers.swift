// Numbers, decoded when asked for.

extension JSONDocument {
    /// A number that is mathematically an integer in the range of `Int64`, however it is spelt: `1`, `1.0`, `10e-1`.
    /// Exact: nothing is rounded. nil for every other number and every other kind.
    public func integer(_ node: JSONNode) -> Int64? {
        let entry = self[node]
        guard entry.kind == .number, let decimal = JSONDecimal(bytes.span, entry.range) else { return nil }
        return decimal.integer
    }

    /// The `Double` nearest to a number; nil where that is not finite, and for every other kind.
    public func number(_ node: JSONNode) -> Double? {
        let entry = self[node]
        guard entry.kind == .number else { return nil }
        if let decimal = JSONDecimal(bytes.span, entry.range), let exact = decimal.exactDouble { return exact }
        let spelling = String(decoding: bytes[entry.range], as: UTF8.self)
        guard let value = Double(spelling), value.isFinite else { return nil }
        return value
    }
}

/// A number as `±significand · 10^exponent`, the significand without trailing zeros.
private struct JSONDecimal {
    /// Exponents are read up to here: far beyond what any count of digits in a text can make up for.
    private static let exponentLimit = 1 << 40
    /// Below this a `Double` holds every integer.
    private static let exactSignificand: UInt64 = 1 << 53
    private static let exactPowers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    private var isNegative = false
    private var significand: UInt64 = 0
    private var exponent = 0

    /// The number that the parser accepted in `range`; nil if the significand is no `UInt64`.
    init?(_ text: Span<UInt8>, _ range: Range<Int>) {
        var position = range.lowerBound
        if text[position] == ASCII.minus {
            isNegative = true
            position += 1
        }
        var isFraction = false
        var zeros = 0  // read, not yet known to be trailing
        while position < range.upperBound, !ASCII.isExponent(text[position]) {
            let byte = text[position]
            position += 1
            if byte == ASCII.dot {
                isFraction = true
                continue
            }
            if isFraction { exponent -= 1 }
            if byte == ASCII.zero {
                if significand != 0 { zeros += 1 }
                continue
            }
            guard shift(by: zeros + 1, adding: byte &- ASCII.zero) else { return nil }
            zeros = 0
        }
        exponent += zeros
        if position < range.upperBound { exponent += Self.readExponent(text, position + 1..<range.upperBound) }
    }

    /// The value as an integer, if it is one in the range of `Int64`.
    var integer: Int64? {
        guard significand != 0 else { return 0 }
        guard exponent >= 0, exponent < 19 else { return nil }
        var magnitude = significand
        for _ in 0..<exponent {
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            magnitude = product
        }
        if isNegative { return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil }
        return Int64(exactly: magnitude)
    }

    /// The value where a single rounding gives it: an exact significand times or over an exact power of ten (W. D.
    /// Clinger, "How to Read Floating Point Numbers Accurately", 1990).
    var exactDouble: Double? {
        guard significand < Self.exactSignificand, exponent > -Self.exactPowers.count,
            exponent < Self.exactPowers.count
        else { return nil }
        let magnitude = Double(significand)
        let value = exponent < 0 ? magnitude / Self.exactPowers[-exponent] : magnitude * Self.exactPowers[exponent]
        return isNegative ? -value : value
    }

    /// Appends `places` digits, zeros but for the last, to the significand. Returns false if they do not fit.
    private mutating func shift(by places: Int, adding digit: UInt8) -> Bool {
        if significand != 0 {
            guard places < 20 else { return false }
            for _ in 0..<places {
                let (product, overflow) = significand.multipliedReportingOverflow(by: 10)
                guard !overflow else { return false }
                significand = product
            }
        }
        let (sum, overflow) = significand.addingReportingOverflow(UInt64(digit))
        significand = sum
        return !overflow
    }

    private static func readExponent(_ text: Span<UInt8>, _ range: Range<Int>) -> Int {
        var value = 0
        for index in range where ASCII.isDigit(text[index]) {
            value = min(value * 10 + Int(text[index] &- ASCII.zero), exponentLimit)
        }
        return text[range.lowerBound] == ASCII.minus ? -value : value
    }
}
