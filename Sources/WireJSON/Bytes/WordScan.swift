/// Finds bytes eight at a time within one word, the first byte lowest.
///
/// The masks have bit 7 of a byte set where the byte matches. A borrow can set bits *above* a match too, never below
/// one, so only the lowest set bit means anything; and no bit set means no match.
enum WordScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Bytes that are no plain string character: quote, backslash, below 0x20, or 0x80 and above.
    @inline(__always)
    static func special(_ word: UInt64) -> UInt64 {
        (zeros(word ^ (ones &* UInt64(ASCII.quote))) | zeros(word ^ (ones &* UInt64(ASCII.backslash)))
            | controls(word) | word) & highs
    }

    /// Bytes that a JSON string has to escape: quote, backslash, below 0x20.
    @inline(__always)
    static func escapable(_ word: UInt64) -> UInt64 {
        (zeros(word ^ (ones &* UInt64(ASCII.quote))) | zeros(word ^ (ones &* UInt64(ASCII.backslash)))
            | controls(word)) & highs
    }

    /// Bytes that are `byte`.
    @inline(__always)
    static func equal(_ word: UInt64, to byte: UInt8) -> UInt64 { zeros(word ^ (ones &* UInt64(byte))) & highs }

    /// The number of bytes below the lowest match of `mask`.
    @inline(__always)
    static func bytesBefore(_ mask: UInt64) -> Int { mask.trailingZeroBitCount >> 3 }

    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }

    @inline(__always)
    private static func controls(_ word: UInt64) -> UInt64 { (word &- ones &* 0x20) & ~word }
}
