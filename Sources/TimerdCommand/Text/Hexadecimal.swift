/// Words of 64 bits as text.
enum Hexadecimal {
    /// Returns 16 digits for each word, so that other words have another text.
    static func text(_ words: [UInt64]) -> String {
        words.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
