import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Access keys in the engine, in the log and as the loops see them.
struct AccessKeyTests {
    /// Makes a key. Returns it with its secret.
    private func create(
        _ rig: Rig, _ name: String = "k", _ scopes: KeyScopes = .read, by grantor: KeyGrantor = .token
    ) throws -> (key: AccessKey, secret: KeySecret) {
        let secret = KeySecret.draw()
        var made: AccessKey?
        try rig.change { turn throws(ServiceError) in
            let draft = KeyDraft(name: name, scopes: scopes)
            made = try turn.createKey(draft, id: secret.id, secret.digest, by: grantor)
        }
        return (try #require(made), secret)
    }

    private func rename(_ rig: Rig, _ id: KeyID, _ name: String) throws {
        try rig.change { turn throws(ServiceError) in _ = try turn.changeKey(id, KeyPatch(name: name), by: .token) }
    }

    private func revoke(_ rig: Rig, _ id: KeyID) throws {
        try rig.change { turn throws(ServiceError) in try turn.revokeKey(id, by: .token) }
    }

    private func keys(of store: any LogStore) throws -> KeyRing {
        var fold = LogFold(secret: [1, 2, 3])
        try store.fold(into: &fold)
        return fold.keys
    }

    /// Expects that memory, the loops and a fold of the log have the same keys.
    private func expectAgreement(_ rig: Rig, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try rig.settle()
        let live = rig.engine.turn { $0.accessKeys }
        #expect(try keys(of: rig.store) == live, sourceLocation: sourceLocation)
        #expect(rig.shared.access.ring.value == live, sourceLocation: sourceLocation)
    }

    private func verdict(_ rig: Rig, _ secret: KeySecret) throws -> KeyRing.Verdict {
        let ring = try #require(rig.shared.access.ring.value)
        return KeySecret.judge(Array(secret.text.utf8)[...], by: ring, at: rig.engine.turn { $0.now.wall })
    }

    private func compactor(_ rig: Rig) -> LogCompaction {
        var tuning = LogCompaction.Tuning()
        (tuning.slackBytes, tuning.rowsPerRound) = (4000, 3)
        return LogCompaction(rig.log, CompactionPacing(), tuning: tuning) { Issue.record("\($0)") }
    }

    @Test func `every change of a key is in the log and at the loops`() throws {
        let rig = try Rig()
        let (key, secret) = try create(rig)
        try expectAgreement(rig)
        #expect(try verdict(rig, secret) == .good(key, until: .max))
        try rename(rig, key.id, "new")
        try expectAgreement(rig)
        let next = KeySecret.draw(for: key.id)
        try rig.change { turn throws(ServiceError) in
            _ = try turn.rotateKey(key.id, next.digest, overlap: 500, by: .key(key.id))
        }
        try expectAgreement(rig)
        #expect(next.id == key.id && next.text != secret.text)
        guard case .good(let found, until: .max) = try verdict(rig, next) else {
            Issue.record("the new secret is not good")
            return
        }
        #expect(found.name == "new")
        if case .unknown = try verdict(rig, secret) { Issue.record("the old secret has ended too soon") }
        rig.time.pass(milliseconds: 500)
        #expect(try verdict(rig, secret) == .unknown)
        try revoke(rig, key.id)
        try expectAgreement(rig)
        #expect(try verdict(rig, next) == .unknown)
        let grantors = try rig.records().compactMap { record in
            if case .key(_, _, let grantor) = record.content { grantor } else { nil }
        }
        #expect(grantors == [.token, .token, .key(key.id), .token])
        rig.stop()
    }

    @Test func `a refused change, and a change of nothing, make no record`() throws {
        let rig = try Rig()
        let key = try create(rig).key
        try rig.settle()
        let head = rig.locked { $0.batch.head }
        #expect(throws: ServiceError.keyRefused(.noTokens)) { try create(rig, by: .nobody) }
        #expect(throws: ServiceError.keyRefused(.notFound)) { try revoke(rig, KeyID(random: 0)) }
        try rename(rig, key.id, key.name)
        #expect(rig.locked { $0.batch.head } == head)
        try expectAgreement(rig)
        rig.stop()
    }

    @Test func `a restart keeps the keys`() throws {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        let (kept, revoked) = (try create(rig, "kept", .admin), try create(rig, "revoked"))
        try revoke(rig, revoked.key.id)
        try rig.settle()
        rig.stop()
        let again = try Rig(store, time: rig.time)
        #expect(again.engine.turn { $0.accessKeys.all } == [kept.key])
        #expect(try verdict(again, kept.secret) == .good(kept.key, until: .max))
        #expect(try verdict(again, revoked.secret) == .unknown)
        again.stop()
    }

    @Test func `keys are revoked while the server is drained, and not changed else`() throws {
        let rig = try Rig()
        let key = try create(rig).key
        try rig.change { turn throws(ServiceError) in try turn.setDrained(true) }
        #expect(throws: ServiceError.drained) { try create(rig) }
        #expect(throws: ServiceError.drained) { try rename(rig, key.id, "new") }
        #expect(throws: ServiceError.drained) {
            try rig.change { turn throws(ServiceError) in
                _ = try turn.rotateKey(key.id, KeySecret.draw().digest, overlap: 0, by: .token)
            }
        }
        try revoke(rig, key.id)
        try expectAgreement(rig)
        #expect(rig.engine.turn { $0.accessKeys.count } == 0)
        rig.stop()
    }

    @Test func `keys of another server are taken by the policy of the import`() throws {
        let rig = try Rig()
        let key = try create(rig).key
        var other = key
        other.name = "other"
        var taken: [Bool] = []
        func take(_ key: AccessKey, _ policy: Turn.ConflictPolicy) throws {
            try rig.change { turn throws(ServiceError) in taken.append(try turn.takeKey(key, policy, by: .token)) }
        }
        #expect(throws: ServiceError.keyRefused(.exists)) { try take(other, .fail) }
        try take(other, .skip)
        #expect(rig.engine.turn { $0.accessKeys[key.id]?.name } == key.name)
        try take(other, .replace)
        #expect(rig.engine.turn { $0.accessKeys[key.id]?.name } == "other")
        other.lastUsedAt = 60_000
        try take(other, .fail)
        #expect(taken == [false, true, true])
        #expect(rig.engine.turn { $0.accessKeys[key.id]?.lastUsedAt } == nil)
        try expectAgreement(rig)
        rig.stop()
    }

    @Test func `compaction carries the keys, and no state that a key had before`() throws {
        let store = MemoryLogStore()
        var configuration = EngineConfiguration()
        configuration.retainMilliseconds = 0
        let rig = try Rig(store, configuration)
        let compactor = compactor(rig)
        var made: [AccessKey] = []
        for number in 0..<20 { made.append(try create(rig, "k\(number)").key) }
        try rig.settle()
        for key in made[..<10] { try rename(rig, key.id, "renamed") }
        for key in made[10..<15] { try revoke(rig, key.id) }
        try rig.create("busy", payload: [UInt8](repeating: 0x31, count: 500))
        for _ in 0..<100 {
            try rig.apply("busy", .suspend)
            try rig.apply("busy", .resume)
            try rig.settle()
            rig.time.pass(milliseconds: 10)
            while try compactor.round(try store.makeReader()) {}
            try expectAgreement(rig)
        }
        try eventually("the rows of the keys are deleted") { try rows(of: store).first?.previous ?? 0 > 0 }
        try expectAgreement(rig)
        #expect(rig.engine.turn { $0.accessKeys.count } == 15)
        #expect(rig.engine.turn { $0.accessKeys.all.count { $0.name == "renamed" } } == 10)
        // The records that the server wrote again say who had changed the keys.
        #expect(rig.engine.turn { $0.accessKeys.all.allSatisfy { $0.changedBy == .token } })
        rig.stop()
    }

    @Test func `the log without a row is the same once what it holds of keys was carried`() throws {
        let rig = try Rig()
        let compactor = compactor(rig)
        let key = try create(rig).key
        try rig.settle()
        let revoked = try create(rig).key
        try rename(rig, key.id, "new")
        try rig.settle()
        try revoke(rig, revoked.id)
        try rig.settle()
        for row in try rows(of: rig.store) {
            let carried = try compactor.needs(of: row)
            #expect(rig.engine.carry(carried, from: 0) == carried.count)
            #expect(rig.engine.carryVersionFloor())
            try expectAgreement(rig)
            while try rig.store.delete(upTo: row.last) > 0 {}
            try expectAgreement(rig)
        }
        #expect(rig.engine.turn { $0.accessKeys.all.map(\.name) } == ["new"])
        rig.stop()
    }

    @Test(arguments: [FaultyLogStore.Outcome.absent, .unknownAndLost])
    func `a key that storage did not take is gone, and one that it did not lose is back`(
        _ outcome: FaultyLogStore.Outcome
    ) throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        let kept = try create(rig)
        try rig.settle()
        store.plan(outcome)
        var secret: KeySecret?
        var position: Int64 = 0
        position = try rig.change { turn throws(ServiceError) in
            try turn.revokeKey(kept.key.id, by: .token)
            let drawn = KeySecret.draw()
            secret = drawn
            _ = try turn.createKey(
                KeyDraft(name: "lost", scopes: .read), id: drawn.id, drawn.digest, by: .token)
        }
        #expect(try rig.fate(position) == .lost)
        try eventually("storage works again") { rig.locked { !$0.storageFails } }
        try expectAgreement(rig)
        #expect(try verdict(rig, #require(secret)) == .unknown)
        #expect(try verdict(rig, kept.secret) == .good(kept.key, until: .max))
        rig.stop()
    }

    @Test func `a process that drops the log knows no keys`() throws {
        let rig = try Rig()
        _ = try create(rig)
        try rig.settle()
        #expect(rig.shared.access.ring.value?.count == 1)
        rig.log.end()
        #expect(rig.shared.access.ring.value == nil)
        rig.stop()
    }

    @Test func `a use is shown to the minute, and recorded once an hour`() throws {
        let rig = try Rig()
        let (key, access) = (try create(rig).key, rig.shared.access)
        let minute: Int64 = 60_000
        let first = key.createdAt - key.createdAt % minute
        #expect(access.lastUse(of: key) == nil)
        access.noteUse(of: key.id, at: first + 59_999)
        access.noteUse(of: key.id, at: first)
        #expect(access.lastUse(of: key) == first)
        rig.engine.recordKeyUses()
        #expect(rig.engine.turn { $0.accessKeys[key.id]?.lastUsedAt } == nil)
        access.noteUse(of: key.id, at: key.createdAt + 61 * minute)
        rig.engine.recordKeyUses()
        let recorded = try #require(rig.engine.turn { $0.accessKeys[key.id]?.lastUsedAt })
        #expect(recorded == first + 61 * minute)
        let head = rig.locked { $0.batch.head }
        access.noteUse(of: key.id, at: recorded + 59 * minute)
        rig.engine.recordKeyUses()
        #expect(rig.locked { $0.batch.head } == head)
        #expect(access.lastUse(of: key) == recorded + 59 * minute)
        try rig.settle()
        #expect(try keys(of: rig.store)[key.id]?.lastUsedAt == recorded)
        // Loops, which judge every credential once more when they are shown keys, are not shown uses.
        #expect(rig.shared.access.ring.value?[key.id] == key)
        rig.stop()
    }

    @Test func `a clean stop records every use`() throws {
        let rig = try Rig()
        let (used, other) = (try create(rig).key, try create(rig).key)
        rig.shared.access.noteUse(of: used.id, at: used.createdAt)
        rig.shared.access.noteUse(of: KeyID(random: 0), at: used.createdAt)
        rig.engine.close()
        try rig.settle()
        let keys = try keys(of: rig.store)
        #expect(keys[used.id]?.lastUsedAt == used.createdAt - used.createdAt % 60_000)
        #expect(keys[other.id]?.lastUsedAt == nil && keys.count == 2)
        rig.stop()
    }

    @Test func `secrets are drawn with bits of their own`() {
        let secrets = (0..<100).map { _ in KeySecret.draw() }
        #expect(Set(secrets.map(\.text)).count == 100 && Set(secrets.map(\.id)).count == 100)
        #expect(Set(secrets.map(\.digest)).count == 100)
    }

    @Test func `a digest is the SHA-256 of the text`() throws {
        // printf tmk_aaaaaaaaaaaa_$(printf 'a%.0s' {1..48}) | sha256sum
        let secret = KeySecret(id: KeyID(random: 0), random: [0, 0, 0, 0])
        let text = secret.digest.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(text == "867e81162fb765d408ade3c7c7d502f048abc71d372d8a30891cc5b6ed7d9db3")
    }

    @Test func `another text is no secret`() throws {
        let rig = try Rig()
        let secret = try create(rig).secret
        let ring = try #require(rig.shared.access.ring.value)
        let text = Array(secret.text.utf8)
        for wrong in [[], Array(text.dropLast()), text + [0x61], Array("tmk_".utf8), Array(text.dropLast()) + [0x21]] {
            #expect(KeySecret.judge(wrong[...], by: ring, at: 0) == .unknown)
        }
        #expect(KeySecret.judge(text[...], by: KeyRing(), at: 0) == .unknown)
        rig.stop()
    }
}
