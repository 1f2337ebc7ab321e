import Primitives
import Testing

@testable import TimerCore

struct TimerKeyTests {
    private let siphash = SipHash(secret: [UInt8](0..<16))

    private func hash(_ id: [UInt8]) -> UInt64 { TimerKey(id: id.span, siphash: siphash).hash }

    private func text(_ id: [UInt8]?) -> String? { id.map { String(decoding: $0, as: UTF8.self) } }

    @Test func `an id near a UUID has the hash that is wanted, and differs in its last digits alone`() throws {
        let id = Array("0193f1f0-7c3a-7abc-9def-0123456789ab".utf8)
        for wanted in UInt64(0)..<1024 {
            let found = try #require(TimerKey.id(near: id, siphash: siphash) { $0 >> 54 == wanted })
            #expect(hash(found) >> 54 == wanted)
            #expect(found.count == 36 && found.prefix(32) == id.prefix(32))
        }
        #expect(TimerKey.id(near: id, siphash: siphash) { $0 == hash(id) } == id)
        #expect(TimerKey.id(near: id, siphash: siphash) { _ in false } == nil)
    }

    @Test func `the last digits are counted on over their end`() {
        let id = Array("0193f1f0-7c3a-7abc-9def-01234567ffff".utf8)
        let others = ["0193f1f0-7c3a-7abc-9def-012345670000", "0193f1f0-7c3a-7abc-9def-01234567fffe"]
        for other in others {
            let found = TimerKey.id(near: id, siphash: siphash) { $0 == hash(Array(other.utf8)) }
            #expect(text(found) == other)
        }
    }

    @Test func `another id is taken as it is, or not`() {
        let id = Array("tea".utf8)
        #expect(TimerKey.id(near: id, siphash: siphash) { $0 == hash(id) } == id)
        #expect(TimerKey.id(near: id, siphash: siphash) { $0 != hash(id) } == nil)
    }
}
