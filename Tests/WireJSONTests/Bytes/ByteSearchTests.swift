import TestSupport
import Testing
import WireJSON

@Suite struct ByteSearchTests {
    @Test func `a byte is found where it comes first, among bytes that are almost it`() {
        var random = SeededGenerator(seed: 5)
        for sought: UInt8 in [0, 1, 10, 60, 0x7F, 0x80, 0xFF] {
            for _ in 0..<500 {
                let bytes = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    let other: UInt8 = [0x01, 0x02, 0x80, 0xFF].randomElement(using: &random) ?? 1
                    return Int.random(in: 0..<8, using: &random) == 0 ? sought : sought ^ other
                }
                for start in 0...bytes.count {
                    #expect(bytes.span.firstIndex(of: sought, from: start) == bytes[start...].firstIndex(of: sought))
                }
            }
        }
    }

    @Test func `behind the end there is nothing`() {
        #expect([UInt8](repeating: 7, count: 9).span.firstIndex(of: 7, from: 12) == nil)
    }
}
