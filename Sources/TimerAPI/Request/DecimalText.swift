/// The text of whole numbers in ids, versions and query parameters.
enum DecimalText {
    /// The most digits: those of `Int64.max`.
    private static let mostDigits = 19

    /// Reads a decimal number without a sign; nil for anything else, and for more digits than `Int64.max` has. A
    /// number that is larger than that reads as `Int64.max`.
    static func parse(_ text: some Collection<UInt8>) -> Int64? {
        guard !text.isEmpty, text.count <= mostDigits else { return nil }
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
