import TestSupport
import Testing

@testable import TimerCore

// The testing macros take no spans.
extension TimerID {
    static func isValid(_ text: String) -> Bool { isValid(Array(text.utf8).span) }
}

/// The texts that are ids of timers.
struct TimerIDTests {
    @Test(arguments: [
        "a", "0", "-", "_", "~", "...", "a.b", ".a", "Batch", "batches", "bulk-1", "A-Z_a~z.0",
        String(repeating: "x", count: 128),
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "3F2504E0-4F89-11D3-9A0C-0305E82C3301",
    ])
    func `a name is taken and kept as it is`(id: String) throws {
        #expect(TimerID.isValid(id))
        let bench = Bench()
        try bench.create(rules(.after(1)), id: id)
        #expect(bench.id(try bench.slot(id)) == id)
    }

    @Test(arguments: [
        "", ".", "..", "batch", "bulk", "a b", "a/b", "ä", "a%20", "a+b", "a:b", "a@b", "\u{0}", "a\n", "é",
        String(repeating: "x", count: 129), "[", "`", "{", ",", "^",
    ])
    func `what would not fit a path is refused`(id: String) {
        #expect(!TimerID.isValid(id))
    }

    @Test func `every byte alone`() {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~-".utf8)
        for byte in UInt8.min ... .max {
            let text = [byte]
            #expect(TimerID.isValid(text.span) == allowed.contains(byte))
        }
    }

    @Test func `a lower-case UUID takes 17 bytes, anything like it its length`() {
        var random = SeededGenerator(seed: 47)
        for _ in 0..<500 {
            let uuid = DefinitionParts.uuid(&random)
            #expect(Self.kept(uuid).count == 17)
            #expect(Self.kept(uuid.uppercased()).count == (uuid == uuid.uppercased() ? 17 : 37))
            var almost = Array(uuid)
            almost[Int(random.number(0...35))] = "g"
            #expect(Self.kept(String(almost)).count == 37)
            for id in [uuid, uuid.uppercased(), String(almost)] {
                var text: [UInt8] = []
                text.append(addingCapacity: 128) { TimerID.appendText(kept: Self.kept(id).span, to: &$0) }
                #expect(String(decoding: text, as: UTF8.self) == id)
            }
        }
    }

    @Test func `any byte at any place of a UUID is a digit or a hyphen there, or makes it another id`() {
        let uuid = Array("019a0f3c-5b6d-7e8f-9012-3456789abcde".utf8)
        for place in uuid.indices {
            let allowed = Set((uuid[place] == UInt8(ascii: "-") ? "-" : "0123456789abcdef").utf8)
            for byte in UInt8.min ... .max {
                var id = uuid
                id[place] = byte
                let kept = Self.kept(id)
                #expect(kept.count == (allowed.contains(byte) ? 17 : 37))
                var text: [UInt8] = []
                text.append(addingCapacity: 128) { TimerID.appendText(kept: kept.span, to: &$0) }
                #expect(text == id)
            }
        }
    }

    private static func kept(_ id: String) -> [UInt8] { kept(Array(id.utf8)) }

    private static func kept(_ id: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        TimerID.appendKept(id.span, to: &bytes)
        return bytes
    }
}
