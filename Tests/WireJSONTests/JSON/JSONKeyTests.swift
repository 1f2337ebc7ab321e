import Testing

@testable import WireJSON

/// Keys: how they compare, and duplicates among many of them.
@Suite struct JSONKeyTests {
    @Test func `keys compare unescaped`() throws {
        let document = try document(#"{"\u0061b":1,"c\/d":2,"e":3}"#)
        let first = try #require(document.firstChild(document.root))
        let second = try #require(document.next(first))
        let third = try #require(document.next(second))
        #expect(document.key(first, equals: "ab"))
        #expect(!document.key(first, equals: "\\u0061b"))
        #expect(document.keyBytes(first) == Array("ab".utf8))
        #expect(document.key(second, equals: "c/d"))
        #expect(document.key(third, equals: "e"))
        #expect(!document.key(third, equals: "f"))
        #expect(!document.key(third, equals: "ee"))
        #expect(!document.key(third, equals: ""))
    }

    @Test func `only the value of a member has a key`() throws {
        let document = try document(#"{"":[1]}"#)
        let array = try #require(document.member(document.root, ""))
        let element = try #require(document.firstChild(array))
        #expect(document.key(array, equals: ""))
        #expect(!document.key(element, equals: ""))
        #expect(!document.key(document.root, equals: ""))
        #expect(document.keyBytes(element).isEmpty)
    }

    @Test(arguments: [2, 15, 16, 17, 18, 100, 2000])
    func `a duplicate is found among any number of members, whichever it is`(count: Int) {
        func object(_ keys: [String]) -> String { "{" + keys.map { "\"\($0)\":0" }.joined(separator: ",") + "}" }
        let keys = (0..<count).map { "key number \($0)" }
        #expect(refusal(object(keys)) == nil)
        for index in [0, count / 2, count - 2] {
            let error = refusal(object(keys + [keys[index]]))
            #expect(error?.message == "duplicate key")
            #expect(error?.pointer == "/key number \(index)")
            #expect(error?.offset == object(keys).utf8.count)
        }
        let early = refusal(object([keys[0], keys[1], keys[1]] + keys.dropFirst(2) + [keys[0]]))
        #expect(early?.pointer == "/" + keys[1])
    }

    @Test func `a duplicate spelt with escapes is found among many members`() {
        let members = (0..<50).map { "\"k\($0)\":0" }.joined(separator: ",")
        #expect(refusal("{\(members),\"\\u006b7\":1}")?.pointer == "/k7")
        #expect(refusal("{\(members),\"\\u006b77\":1}") == nil)
    }

    @Test func `escaped and plain spellings of a key have the same hash at any place in the text`() {
        for length in 1...20 {
            let plain = [UInt8](repeating: UInt8(ascii: "a"), count: length)
            let escaped = Array("\\u0061".utf8) + plain.dropFirst()
            let expected = JSONKeyHash.hash(plain.span, 0..<length, escaped: false)
            #expect(JSONKeyHash.hash(escaped.span, 0..<escaped.count, escaped: true) == expected)
            let followed = plain + Array("bcdefghijk".utf8)
            #expect(JSONKeyHash.hash(followed.span, 0..<length, escaped: false) == expected)
        }
    }

    @Test func `keys of the same hash are told apart`() {
        let keys = Self.collidingKeys(100)
        let hashes = Set(keys.map { JSONKeyHash.hash($0.span, 0..<8, escaped: false) })
        #expect(Set(keys).count == 100)
        #expect(hashes.count == 1)
        func object(_ keys: [[UInt8]]) -> [UInt8] {
            let members = keys.map { "\"\(String(decoding: $0, as: UTF8.self))\":0" }
            return Array("{\(members.joined(separator: ","))}".utf8)
        }
        #expect(refusal(object(keys)) == nil)
        #expect(refusal(object(Array(keys.prefix(10)))) == nil)
        #expect(refusal(object(keys + [keys[40]]))?.offset == 13 * 100 + 1)
        #expect(refusal(object(Array(keys.prefix(10)) + [keys[4]]))?.offset == 13 * 10 + 1)
    }

    /// Eight-byte keys of printable ASCII, all of one hash: the hash of one word is an odd multiplication, which its
    /// inverse undoes.
    private static func collidingKeys(_ count: Int) -> [[UInt8]] {
        let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15
        var inverse: UInt64 = 1
        for _ in 0..<6 { inverse = inverse &* (2 &- multiplier &* inverse) }
        var keys: [[UInt8]] = []
        var low: UInt64 = 0
        while keys.count < count, low < 1 << 32 {
            let word = (0x1234_5678_0000_0000 | low) &* inverse ^ 8
            let key = (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
            if key.allSatisfy({ $0 >= 0x30 && $0 < 0x7F && $0 != 0x5C }) { keys.append(key) }
            low += 1
        }
        return keys
    }
}
