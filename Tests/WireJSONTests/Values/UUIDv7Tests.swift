import Foundation
import TestSupport
import Testing
import WireJSON

@Suite struct UUIDv7Tests {
    private func uuid(_ milliseconds: Int64, _ random: (UInt64, UInt64)) -> String {
        var bytes: [UInt8] = []
        UUIDv7.append(milliseconds: milliseconds, random: random, to: &bytes)
        return text(bytes)
    }

    @Test func `the example of RFC 9562 is written`() {
        let random: (UInt64, UInt64) = (0xCC3, 0x18C4_DC0C_0C07_398F)
        #expect(uuid(0x017F_22E2_79B0, random) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    }

    @Test func `version and variant stand whatever the random bits are`() throws {
        #expect(uuid(0, (0, 0)) == "00000000-0000-7000-8000-000000000000")
        #expect(uuid(-1, (.max, .max)) == "ffffffff-ffff-7fff-bfff-ffffffffffff")
        var random = SeededGenerator(seed: 2)
        for _ in 0..<500 {
            let milliseconds = Int64.random(in: 0..<1 << 48, using: &random)
            let text = uuid(milliseconds, (random.next(), random.next()))
            let parsed = try #require(UUID(uuidString: text))
            #expect(parsed.uuidString.lowercased() == text)
            #expect(Array(text)[14] == "7")
            #expect("89ab".contains(Array(text)[19]))
            #expect(Int64(text.prefix(13).filter { $0 != "-" }, radix: 16) == milliseconds)
        }
    }

    @Test func `they sort by time`() {
        #expect(uuid(1_795_251_600_000, (.max, .max)) < uuid(1_795_251_600_001, (0, 0)))
    }
}
