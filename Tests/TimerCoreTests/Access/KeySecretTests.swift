import TestSupport
import Testing

@testable import TimerCore

struct KeySecretTests {
    private static let id = KeyID(random: 0x0123_4567_89AB_CDEF)

    private static func secret(_ generator: inout SeededGenerator) -> KeySecret {
        let random = (0..<KeySecret.randomWords).map { _ in generator.next() }
        return KeySecret(id: KeyID(random: generator.next()), random: random)
    }

    @Test func `a secret names its key, and holds 240 random bits`() throws {
        let least = KeySecret(id: Self.id, random: [0, 0, 0, 0])
        let most = KeySecret(id: Self.id, random: [.max, .max, .max, .max])
        #expect(least.text == "tmk_\(Self.id.text)_\(String(repeating: "a", count: 48))")
        #expect(most.text == "tmk_\(Self.id.text)_\(String(repeating: "7", count: 48))")
        for word in 0..<KeySecret.randomWords {
            for bit in 0..<60 as Range<UInt64> {
                var random: [UInt64] = [0, 0, 0, 0]
                random[word] = 1 << bit
                #expect(KeySecret(id: Self.id, random: random).text != least.text)
            }
        }
    }

    @Test func `the id of a secret is read from its text`() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let secret = Self.secret(&generator)
            #expect(KeySecret.id(in: Array(secret.text.utf8)[...]) == secret.id)
            #expect(KeySecret.id(in: (Array("x ".utf8) + secret.text.utf8)[2...]) == secret.id)
        }
    }

    @Test func `a text that has not the form of a secret names no key`() {
        let secret = Array(KeySecret(id: Self.id, random: [1, 2, 3, 4]).text.utf8)
        for count in 0..<secret.count { #expect(KeySecret.id(in: secret[..<count]) == nil) }
        #expect(KeySecret.id(in: (secret + [0x61])[...]) == nil)
        // The last character that the form decides is the one before the random part.
        for index in 0..<17 {
            var wrong = secret
            wrong[index] = UInt8(ascii: "!")
            #expect(KeySecret.id(in: wrong[...]) == nil, "\(index)")
        }
    }

    @Test func `a secret is described without its random part`() {
        let secret = KeySecret(id: Self.id, random: [1, 2, 3, 4])
        let random = secret.text.suffix(48)
        for shown in ["\(secret)", String(reflecting: secret), "\(Optional(secret) as Any)"] {
            #expect(shown.contains(Self.id.text) && !shown.contains(random))
        }
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!dumped.contains(random))
    }

    @Test(arguments: [0, 1, 0x0FFF_FFFF_FFFF_FFFF, 0x0123_4567_89AB_CDEF])
    func `an id comes back from its text`(_ bits: UInt64) throws {
        let id = try #require(KeyID(bits: bits))
        #expect(id.bits == bits && id.text.utf8.count == 12)
        #expect(KeyID(id.text.utf8) == id)
    }

    @Test(arguments: ["", "aaaaaaaaaaa", "aaaaaaaaaaaaa", "aaaaaaaaaaa1", "AAAAAAAAAAAA", "aaaaaa_aaaaa"])
    func `another text is no id`(_ text: String) { #expect(KeyID(text.utf8) == nil) }

    @Test func `an id has 60 bits`() {
        #expect(KeyID(bits: 1 << 60) == nil)
        #expect(KeyID(random: .max).bits == 1 << 60 - 1)
    }

    @Test func `a digest keeps its bytes, and matches itself alone`() throws {
        let bytes = (1...32).map { UInt8($0 * 7) }
        let digest = try #require(KeyDigest(bytes))
        #expect(digest.bytes == bytes && digest.matches(digest))
        for bit in 0..<256 {
            var other = bytes
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(try !digest.matches(#require(KeyDigest(other))))
        }
        #expect(KeyDigest(bytes.dropLast()) == nil && KeyDigest(bytes + [0]) == nil)
    }

    @Test func `scopes include lesser ones`() {
        let allowed: [(KeyScopes, KeyScopes)] = [
            (.read, .read), (.kick, .kick), ([.read, .kick], [.read, .kick]), (.write, [.read, .kick, .write]),
            (.admin, .all),
        ]
        for (scopes, expected) in allowed {
            for (_, scope) in KeyScopes.named { #expect(scopes.allow(scope) == expected.contains(scope)) }
        }
        #expect((KeyScopes.all).names.map { "\($0)" } == ["read", "kick", "write", "admin"])
        #expect(KeyScopes.write.names.map { "\($0)" } == ["write"])
    }
}
