import Foundation
import TestSupport
import Testing
import WireJSON

/// Foundation's reader as the oracle, on random texts and on damaged ones. Every run has the same texts.
@Suite struct JSONOracleTests {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `random texts read as Foundation reads them`(seed: UInt64) throws {
        var texts = RandomText(seed: seed)
        var document = JSONDocument()
        for _ in 0..<250 {
            let bytes = texts.next()
            try document.parse(bytes)
            let tree = Tree(document, document.root)
            #expect(try tree == JSONDecoder().decode(Tree.self, from: Data(bytes)), "\(text(bytes))")
        }
    }

    @Test(arguments: 11...14 as ClosedRange<UInt64>)
    func `the compact form of a random text means the same and is a fixed point`(seed: UInt64) throws {
        var texts = RandomText(seed: seed)
        var document = JSONDocument()
        for _ in 0..<250 {
            try document.parse(texts.next())
            let tree = Tree(document, document.root)
            var compact: [UInt8] = []
            document.appendCompact(document.root, to: &compact)
            try document.parse(compact)
            #expect(Tree(document, document.root) == tree)
            var again: [UInt8] = []
            document.appendCompact(document.root, to: &again)
            #expect(again == compact)
        }
    }

    @Test(arguments: 21...24 as ClosedRange<UInt64>)
    func `a damaged text never crashes and is accepted only if Foundation accepts it`(seed: UInt64) throws {
        var texts = RandomText(seed: seed)
        var random = SeededGenerator(seed: seed &+ 1000)
        var document = JSONDocument()
        var accepted = 0
        var refused = 0
        for _ in 0..<500 {
            let bytes = Self.damaged(texts.next(), &random)
            do throws(JSONError) {
                try document.parse(bytes)
            } catch {
                refused += 1
                #expect((0...bytes.count).contains(error.offset))
                try Self.expectReason(error, for: bytes)
                continue
            }
            accepted += 1
            guard let tree = Tree(document, document.root) else { continue }
            #expect(try tree == JSONDecoder().decode(Tree.self, from: Data(bytes)), "\(text(bytes))")
        }
        #expect(accepted > 30 && refused > 100)
    }

    /// Expects Foundation to refuse `bytes` too, unless this reader is stricter by intent.
    private static func expectReason(_ error: JSONError, for bytes: [UInt8]) throws {
        let strict = ["duplicate key", "nesting over 32", "byte order mark", "lone surrogate escape"]
        guard !strict.contains(error.message) else { return }
        #expect(throws: (any Error).self, "\(error) \(text(bytes))") {
            try JSONDecoder().decode(Tree.self, from: Data(bytes))
        }
    }

    private static func damaged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        let tokens = Array("{}[]:,\"\\u0129eE+-. \ntfn\u{1F}".utf8) + [0x80, 0xC3, 0xE2, 0xF0, 0xFF, 0x00]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            let token = tokens[Int.random(in: 0..<tokens.count, using: &random)]
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where place < bytes.count: bytes[place] = token
            case 1 where place < bytes.count: bytes.remove(at: place)
            case 2 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 3 where random.chance(oneIn: 4): bytes.removeSubrange(place...)
            default: bytes.insert(token, at: place)
            }
        }
        return bytes
    }
}
