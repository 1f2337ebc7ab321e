import Primitives
import Testing

struct AlphanumericTests {
    @Test func `letters and digits are those of ASCII`() {
        let expected = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        for byte in UInt8.min ... .max { #expect(Alphanumeric.contains(byte) == expected.contains(byte)) }
    }
}
