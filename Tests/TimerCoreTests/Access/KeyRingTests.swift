import TestSupport
import Testing

@testable import TimerCore

struct KeyRingTests {
    private static let now: Int64 = 1000

    private static func digest(_ byte: UInt8) throws -> KeyDigest {
        try #require(KeyDigest([UInt8](repeating: byte, count: KeyDigest.count)))
    }

    private static func key(_ number: UInt64, createdAt: Int64 = 1) throws -> AccessKey {
        AccessKey(
            id: try #require(KeyID(bits: number)), name: "k\(number)", scopes: .read, createdAt: createdAt,
            newest: try digest(1))
    }

    @Test func `a secret is good until it or its key ends`() throws {
        var ring = KeyRing()
        var key = try Self.key(7)
        ring.set(key, for: key.id)
        #expect(ring.judge(key.id, try Self.digest(1), at: Self.now) == .good(key, until: .max))
        key.expiresAt = Self.now + 5
        key.older = AccessKey.OlderSecret(digest: try Self.digest(2), until: Self.now + 3)
        ring.set(key, for: key.id)
        #expect(ring.judge(key.id, try Self.digest(1), at: Self.now) == .good(key, until: Self.now + 5))
        #expect(ring.judge(key.id, try Self.digest(2), at: Self.now) == .good(key, until: Self.now + 3))
        key.older?.until = Self.now + 9
        ring.set(key, for: key.id)
        #expect(ring.judge(key.id, try Self.digest(2), at: Self.now) == .good(key, until: Self.now + 5))
    }

    @Test func `a wrong secret does not learn that its key has expired`() throws {
        var ring = KeyRing()
        var key = try Self.key(7)
        key.expiresAt = Self.now
        key.older = AccessKey.OlderSecret(digest: try Self.digest(2), until: Self.now)
        ring.set(key, for: key.id)
        #expect(ring.judge(key.id, try Self.digest(1), at: Self.now) == .expired)
        #expect(ring.judge(key.id, try Self.digest(2), at: Self.now) == .unknown)
        #expect(ring.judge(key.id, try Self.digest(3), at: Self.now) == .unknown)
        #expect(ring.judge(try Self.key(8).id, try Self.digest(1), at: Self.now) == .unknown)
    }

    @Test func `a key without an older secret has none of zeros`() throws {
        var ring = KeyRing()
        let key = try Self.key(7)
        ring.set(key, for: key.id)
        #expect(ring.judge(key.id, try Self.digest(0), at: Self.now) == .unknown)
    }

    @Test func `a copy stays as it was when the ring changes`() throws {
        var ring = KeyRing()
        var key = try Self.key(7)
        ring.set(key, for: key.id)
        let copy = ring
        key.name = "new"
        ring.set(key, for: key.id)
        #expect(copy[key.id]?.name == "k7" && ring[key.id]?.name == "new" && copy != ring)
        ring.set(nil, for: key.id)
        #expect(copy.count == 1 && ring.count == 0 && ring[key.id] == nil)
    }

    @Test func `the ring is what a dictionary would be`() throws {
        var generator = SeededGenerator(seed: 4)
        var ring = KeyRing()
        var model: [KeyID: AccessKey] = [:]
        for _ in 0..<3000 {
            let key = try Self.key(UInt64.random(in: 0..<300, using: &generator), createdAt: generator.number(0...9))
            let isSet = !generator.chance(oneIn: 3)
            ring.set(isSet ? key : nil, for: key.id)
            model[key.id] = isSet ? key : nil
            #expect(ring.count == model.count && ring[key.id] == model[key.id])
        }
        #expect(ring.all == model.values.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) })
        #expect(ring.count > 100)
    }

    @Test func `a prefix is for the timers whose ids begin so`() throws {
        let key = AccessKey(
            id: try Self.key(1).id, name: "k", scopes: .read, idPrefix: Array("job-".utf8), createdAt: 1,
            newest: try Self.digest(1))
        #expect(key.isFor(timer: "job-1".utf8) && key.isFor(timer: "job-".utf8))
        #expect(!key.isFor(timer: "job".utf8) && !key.isFor(timer: "ajob-1".utf8) && !key.isFor(timer: "JOB-1".utf8))
        #expect(try Self.key(1).isFor(timer: "anything".utf8))
    }
}
