import Testing

@testable import TimerCore

struct KeyRulesTests {
    private static let now: Int64 = 1_000_000

    /// A ring that follows orders, with ids and digests by number.
    private struct Bench {
        var ring = KeyRing()
        var now = KeyRulesTests.now
        private var made: UInt64 = 0

        private func rules(_ grantor: KeyGrantor) -> KeyRules { KeyRules(ring, by: grantor, at: now) }

        private mutating func keep(_ key: AccessKey) -> AccessKey {
            ring.set(key, for: key.id)
            return key
        }

        mutating func create(
            _ scopes: KeyScopes = .read, idPrefix: String = "", expiresAt: Int64? = nil, by grantor: KeyGrantor = .token
        ) throws(KeyRefusal) -> AccessKey {
            made += 1
            let draft = KeyDraft(name: "k\(made)", scopes: scopes, idPrefix: Array(idPrefix.utf8), expiresAt: expiresAt)
            return keep(try rules(grantor).create(draft, id: KeyID(random: made << 4), KeyRulesTests.digest(1)))
        }

        mutating func take(
            _ key: AccessKey, replaces: Bool = false, by grantor: KeyGrantor = .token
        ) throws(KeyRefusal) -> AccessKey { keep(try rules(grantor).take(key, replaces: replaces)) }

        mutating func change(
            _ id: KeyID, _ patch: KeyPatch, by grantor: KeyGrantor = .token
        ) throws(KeyRefusal) -> AccessKey { keep(try rules(grantor).change(id, patch)) }

        mutating func rotate(
            _ id: KeyID, _ byte: UInt8, overlap: Int64 = 0, by grantor: KeyGrantor = .token
        ) throws(KeyRefusal) -> AccessKey {
            keep(try rules(grantor).rotate(id, KeyRulesTests.digest(byte), overlap: overlap))
        }

        mutating func revoke(_ id: KeyID, by grantor: KeyGrantor = .token) throws(KeyRefusal) {
            ring.set(nil, for: try rules(grantor).revoke(id).id)
        }

        func isGood(_ id: KeyID, _ byte: UInt8) -> Bool {
            if case .good = ring.judge(id, KeyRulesTests.digest(byte), at: now) { true } else { false }
        }
    }

    private static func digest(_ byte: UInt8) -> KeyDigest {
        guard let digest = KeyDigest([UInt8](repeating: byte, count: KeyDigest.count)) else {
            preconditionFailure("a digest has that many bytes")
        }
        return digest
    }

    private static func foreign(_ number: UInt64, _ scopes: KeyScopes = .read, expiresAt: Int64? = nil) -> AccessKey {
        AccessKey(
            id: KeyID(random: number << 32), name: "foreign", scopes: scopes, createdAt: 5, expiresAt: expiresAt,
            newest: digest(9))
    }

    @Test func `a key is as it was asked for, and was never used`() throws {
        var bench = Bench()
        let key = try bench.create([.read, .kick], idPrefix: "job-", expiresAt: Self.now + 5)
        #expect(key.name == "k1" && key.scopes == [.read, .kick] && key.idPrefix == Array("job-".utf8))
        #expect(key.createdAt == Self.now && key.expiresAt == Self.now + 5)
        #expect(key.older == nil && key.lastUsedAt == nil)
        #expect(bench.ring[key.id] == key && bench.ring.count == 1)
    }

    @Test func `nobody makes or changes a key where no token is asked for`() throws {
        var bench = Bench()
        let id = try bench.create().id
        #expect(throws: KeyRefusal.noTokens) { try bench.create(by: .nobody) }
        #expect(throws: KeyRefusal.noTokens) { try bench.create(expiresAt: 1, by: .nobody) }
        #expect(throws: KeyRefusal.noTokens) { try bench.take(Self.foreign(1), by: .nobody) }
        #expect(throws: KeyRefusal.noTokens) { try bench.change(id, KeyPatch(name: "x"), by: .nobody) }
        #expect(throws: KeyRefusal.noTokens) { try bench.rotate(id, 2, by: .nobody) }
    }

    @Test func `a prefix goes with every scope but admin`() throws {
        var bench = Bench()
        for scopes in [.read, .kick, .write, [.read, .write]] as [KeyScopes] {
            #expect(throws: Never.self) { try bench.create(scopes, idPrefix: "a") }
        }
        for scopes in [.admin, [.read, .admin]] as [KeyScopes] {
            #expect(throws: KeyRefusal.prefixWithAdmin) { try bench.create(scopes, idPrefix: "a") }
            #expect(throws: Never.self) { try bench.create(scopes) }
        }
        #expect(!AccessKey.mayHave([], idPrefix: []))
        #expect(!AccessKey.mayHave(KeyScopes(rawValue: 17), idPrefix: []))
        #expect(!AccessKey.mayHave(.read, idPrefix: Array("a b".utf8)))
    }

    @Test func `a key that has ended before it begins is refused`() throws {
        var bench = Bench()
        #expect(throws: KeyRefusal.isPast) { try bench.create(expiresAt: Self.now) }
        #expect(throws: Never.self) { try bench.create(expiresAt: Self.now + 1) }
    }

    @Test func `a key with an end makes none that ends later`() throws {
        var bench = Bench()
        let end = Self.now + 100
        let maker = KeyGrantor.key(try bench.create(.admin, expiresAt: end).id)
        for later in [nil, end + 1] {
            #expect(throws: KeyRefusal.endsLater(than: end)) { try bench.create(expiresAt: later, by: maker) }
            #expect(throws: KeyRefusal.endsLater(than: end)) {
                try bench.take(Self.foreign(1, expiresAt: later), by: maker)
            }
        }
        #expect(throws: Never.self) { try bench.create(expiresAt: end, by: maker) }
        let forEver = KeyGrantor.key(try bench.create(.admin).id)
        #expect(throws: Never.self) { try bench.create(by: forEver) }
    }

    @Test func `a key with an end changes none that ends later, itself included`() throws {
        var bench = Bench()
        let end = Self.now + 100
        let id = try bench.create(.admin, expiresAt: end).id
        let maker = KeyGrantor.key(id)
        let other = try bench.create().id
        let refusal = KeyRefusal.endsLater(than: end)
        #expect(throws: refusal) { try bench.change(id, KeyPatch(expiresAt: end + 1), by: maker) }
        #expect(throws: refusal) { try bench.change(id, KeyPatch(expiresAt: .some(nil)), by: maker) }
        #expect(throws: refusal) { try bench.change(other, KeyPatch(name: "x"), by: maker) }
        #expect(throws: refusal) { try bench.change(other, KeyPatch(expiresAt: end), by: maker) }
        #expect(throws: refusal) { try bench.rotate(other, 2, by: maker) }
        var replacement = Self.foreign(1, expiresAt: end)
        replacement = AccessKey(
            id: other, name: "x", scopes: .read, createdAt: 1, expiresAt: end, newest: replacement.newest)
        #expect(throws: refusal) { try bench.take(replacement, replaces: true, by: maker) }
        #expect(bench.ring[other]?.name == "k2" && bench.isGood(other, 1))
        #expect(try bench.change(id, KeyPatch(expiresAt: end - 1), by: maker).expiresAt == end - 1)
        #expect(throws: Never.self) { try bench.rotate(id, 2, by: maker) }
    }

    @Test func `a key with an end revokes one without`() throws {
        var bench = Bench()
        let maker = KeyGrantor.key(try bench.create(.admin, expiresAt: Self.now + 100).id)
        let other = try bench.create().id
        try bench.revoke(other, by: maker)
        #expect(bench.ring[other] == nil)
    }

    @Test func `an expired key is not revived`() throws {
        var bench = Bench()
        let id = try bench.create(expiresAt: Self.now + 10).id
        bench.now += 10
        #expect(throws: KeyRefusal.isExpired) { try bench.change(id, KeyPatch(expiresAt: .some(nil))) }
        #expect(throws: KeyRefusal.isExpired) { try bench.change(id, KeyPatch(expiresAt: bench.now + 1)) }
        #expect(throws: KeyRefusal.isExpired) { try bench.rotate(id, 2) }
        #expect(try bench.change(id, KeyPatch(name: "old")).name == "old")
        #expect(bench.ring[id]?.isExpired(at: bench.now) ?? false)
        try bench.revoke(id)
        #expect(bench.ring.count == 0)
    }

    @Test func `a change ends a key at once, or takes its end away in time`() throws {
        var bench = Bench()
        let (first, second) = (try bench.create().id, try bench.create(expiresAt: Self.now + 10).id)
        _ = try bench.change(first, KeyPatch(expiresAt: Self.now))
        #expect(!bench.isGood(first, 1))
        #expect(try bench.change(second, KeyPatch(expiresAt: .some(nil))).expiresAt == nil)
        bench.now += 10
        #expect(bench.isGood(second, 1))
    }

    @Test func `a change leaves the rights, the secrets and what it does not name`() throws {
        var bench = Bench()
        let before = try bench.create(.write, idPrefix: "a", expiresAt: Self.now + 9)
        #expect(try bench.change(before.id, KeyPatch()) == before)
        var expected = before
        expected.name = "new"
        #expect(try bench.change(before.id, KeyPatch(name: "new")) == expected)
    }

    @Test func `a request whose key has ended meanwhile does nothing`() throws {
        var bench = Bench()
        let (ended, revoked) = (try bench.create(.admin, expiresAt: Self.now + 10).id, try bench.create(.admin).id)
        let other = try bench.create().id
        try bench.revoke(revoked)
        bench.now += 10
        for grantor in [KeyGrantor.key(ended), .key(revoked)] {
            #expect(throws: KeyRefusal.grantorIsGone) { try bench.create(by: grantor) }
            #expect(throws: KeyRefusal.grantorIsGone) { try bench.change(other, KeyPatch(name: "x"), by: grantor) }
            #expect(throws: KeyRefusal.grantorIsGone) { try bench.rotate(other, 2, by: grantor) }
            #expect(throws: KeyRefusal.grantorIsGone) { try bench.revoke(other, by: grantor) }
        }
        #expect(bench.isGood(other, 1))
    }

    @Test func `a key that is not there is changed by no request`() throws {
        var bench = Bench()
        let id = KeyID(random: 1 << 40)
        #expect(throws: KeyRefusal.notFound) { try bench.change(id, KeyPatch(name: "x")) }
        #expect(throws: KeyRefusal.notFound) { try bench.rotate(id, 2) }
        #expect(throws: KeyRefusal.notFound) { try bench.revoke(id) }
    }

    @Test func `a rotation ends the old secret at once, or after its overlap`() throws {
        var bench = Bench()
        let id = try bench.create().id
        _ = try bench.rotate(id, 2)
        #expect(!bench.isGood(id, 1) && bench.isGood(id, 2))
        _ = try bench.rotate(id, 3, overlap: 50)
        bench.now += 49
        #expect(bench.isGood(id, 2) && bench.isGood(id, 3))
        bench.now += 1
        #expect(!bench.isGood(id, 2) && bench.isGood(id, 3))
    }

    @Test func `only the two newest secrets are ever good`() throws {
        var bench = Bench()
        let id = try bench.create().id
        _ = try bench.rotate(id, 2, overlap: 1000)
        _ = try bench.rotate(id, 3, overlap: 10)
        #expect(!bench.isGood(id, 1) && bench.isGood(id, 2) && bench.isGood(id, 3))
        bench.now += 10
        #expect(!bench.isGood(id, 2))
    }

    @Test func `there are at most ten thousand keys`() throws {
        var bench = Bench()
        for number in 0..<UInt64(KeyRing.most) {
            let key = Self.foreign(number + 1)
            bench.ring.set(key, for: key.id)
        }
        #expect(bench.ring.count == KeyRing.most && bench.ring.all.count == KeyRing.most)
        #expect(throws: KeyRefusal.isFull) { try bench.create() }
        #expect(throws: KeyRefusal.isFull) { try bench.take(Self.foreign(1 << 20)) }
        #expect(throws: Never.self) { try bench.take(Self.foreign(1), replaces: true) }
        try bench.revoke(Self.foreign(1).id)
        #expect(throws: Never.self) { try bench.create() }
    }

    @Test func `a key that has expired is not revived by one that comes from another server`() throws {
        var bench = Bench()
        let expired = try bench.take(Self.foreign(1, expiresAt: Self.now))
        for end in [Self.now + 1, nil] {
            var later = expired
            later.expiresAt = end
            #expect(throws: KeyRefusal.isExpired) { try bench.take(later, replaces: true) }
        }
        #expect(try bench.take(expired, replaces: true) == expired)
    }

    @Test func `a key of another server comes as it was there, once`() throws {
        var bench = Bench()
        let key = Self.foreign(1, .admin, expiresAt: 6)
        #expect(try bench.take(key) == key)
        #expect(throws: KeyRefusal.exists) { try bench.take(key) }
        var changed = key
        changed.name = "new"
        #expect(try bench.take(changed, replaces: true).name == "new")
        #expect(bench.ring.count == 1)
    }

    @Test(arguments: [KeyGrantor.nobody, .token, .key(KeyID(random: 0)), .key(KeyID(random: .max))])
    func `the number of a grantor comes back as it was`(_ grantor: KeyGrantor) {
        #expect(KeyGrantor(code: grantor.code) == grantor)
    }

    @Test(arguments: [3, 5, .max, .max - 1, 1 << 61 + 2] as [UInt64])
    func `another number stands for nobody`(_ code: UInt64) { #expect(KeyGrantor(code: code) == nil) }
}
