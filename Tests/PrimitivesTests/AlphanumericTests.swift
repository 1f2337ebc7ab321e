import Primitives
import Testing

struct AlphanumericTests {
    @Test func `letters and digits are those of ASCII`() {
        let expected = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        for byte in UInt8.min ... .max { #expect(Alphanumeric.contains(byte) == expected.contains(byte)) }
    }

    @Test func `a label of a host name has two characters more`() {
        for byte in UInt8.min ... .max {
            let isMore = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            #expect(Alphanumeric.isInHostName(byte) == (Alphanumeric.contains(byte) || isMore))
        }
    }
}
