import Testing

@testable import TimerdCommand

struct HexadecimalTests {
    @Test(
        arguments: [
            ([], ""), ([0], "0000000000000000"), ([0x1F], "000000000000001f"), ([.max], "ffffffffffffffff"),
            ([1, 0x23], "00000000000000010000000000000023"), ([0x12, 3], "00000000000000120000000000000003"),
        ] as [([UInt64], String)])
    func `a word has sixteen digits`(words: [UInt64], text: String) {
        #expect(Hexadecimal.text(words) == text)
    }
}
