import WireJSON

/// Event ids as they are shown: positions, of fixed width.
enum EventID {
    static let width = 19

    static func text(_ position: Int64) -> String {
        let digits = String(position)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Appends the id of the event at `position`, which is not negative: `width` bytes.
    static func append(_ position: Int64, to text: inout OutputSpan<UInt8>) {
        var digits = InlineArray<19, UInt8>(repeating: 0)
        var rest = UInt64(position)
        for index in digits.indices.reversed() {
            digits[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        for index in digits.indices { text.append(digits[index]) }
    }

    /// Writes the id of the event at `position` as a string.
    static func write(_ position: Int64, _ json: inout JSONWriter) {
        json.plain(upTo: width) { append(position, to: &$0) }
    }

    /// Reads an id that comes as it is shown; nil for anything else.
    static func parseShown(_ text: some Collection<UInt8>) -> Int64? { text.count == width ? parse(text) : nil }

    /// Reads an id or a cursor; nil unless it is a decimal number of at most `width` digits. One that no position can
    /// reach reads as the largest.
    static func parse(_ text: some Collection<UInt8>) -> Int64? {
        guard !text.isEmpty, text.count <= width else { return nil }
        var value: Int64 = 0
        for byte in text {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            value = overflow || carry ? .max : sum
        }
        return value
    }
}
