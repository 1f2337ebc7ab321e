import Primitives
import Testing

struct HexadecimalTests {
    @Test(
        arguments: [
            ([], ""), ([0], "0000000000000000"), ([0x1F], "000000000000001f"), ([.max], "ffffffffffffffff"),
            ([1, 0x23], "00000000000000010000000000000023"), ([0x12, 3], "00000000000000120000000000000003"),
        ] as [([UInt64], String)])
    func `a word has sixteen digits`(words: [UInt64], text: String) {
        #expect(Hexadecimal.text(words) == text)
    }

    @Test(arguments: [0, 0x1F, 0x0123_4567_89AB_CDEF, .max] as [UInt64])
    func `a word is read from its text`(word: UInt64) {
        #expect(Hexadecimal.word(Hexadecimal.text([word]).utf8) == word)
    }

    @Test(
        arguments: [
            "", "0", "000000000000000", "00000000000000000", "000000000000000A", "+000000000000001", "000000000000000g",
        ])
    func `other texts are no word`(text: String) {
        #expect(Hexadecimal.word(text.utf8) == nil)
    }

    @Test func `a digit has a value in either case, and other bytes have none`() {
        for byte in UInt8.min ... .max {
            let value = Hexadecimal.value(byte)
            let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            #expect(value.map { Int($0) } == digit)
            if let value { #expect(Hexadecimal.digit(value) == (byte < 0x40 ? byte : byte | 0x20)) }
        }
    }

    @Test func `a byte that is not plain is percent-encoded`() {
        let text = Hexadecimal.percentEncoded([0x41, 0x0A, 0xFE, 0x42]) { $0 == 0x41 || $0 == 0x42 }
        #expect(text == "A%0A%FEB")
    }
}
