import TestSupport
import Testing

@testable import TimerCore
@testable import TimerLog

/// Records of access keys, and their fold.
struct KeyRecordTests {
    private static let base = TimeBase(
        now: Now(elapsed: 1, wallOffset: 2), boottime: 3, boot: Hash128(high: 5, low: 6))

    private static func key(_ number: UInt64, _ name: String = "k", idPrefix: String = "") throws -> AccessKey {
        var key = AccessKey(
            id: try #require(KeyID(bits: number)), name: name, scopes: [.read, .kick], idPrefix: Array(idPrefix.utf8),
            createdAt: 64, newest: try #require(KeyDigest((1...32).map { UInt8($0) })))
        key.changedBy = .token
        return key
    }

    private static func bytes(_ key: AccessKey?, of id: KeyID, by grantor: KeyGrantor = .token) -> [UInt8] {
        var bytes: [UInt8] = []
        RecordCodec.append(key, of: id, by: grantor, at: 1, to: &bytes)
        return bytes
    }

    private func fold(_ rows: [[UInt8]]) throws -> KeyRing {
        var fold = LogFold(secret: [1, 2, 3])
        var last: Int64 = 0
        for records in rows {
            for row in BatchRows.make(records: records, first: last + 1, previous: last, epoch: 0, base: Self.base) {
                try fold.fold(row)
                last = row.last
            }
        }
        return fold.keys
    }

    /// Whether a record with this body, framed and with the right checksum, is read.
    private func isRead(_ body: [UInt8]) throws -> Bool {
        let count = UInt32(body.count)
        let frame = (0..<4).map { UInt8(truncatingIfNeeded: count >> UInt32(8 * $0)) } + [0, 0, 0, 0]
        let rows = BatchRows.make(records: frame + body, first: 9, previous: 8, epoch: 0, base: Self.base)
        let row = try #require(rows.first)
        do throws(StoreError) {
            try BatchRows.read(row) { _ in true }
            return true
        } catch {
            return false
        }
    }

    @Test func `a key is the bytes that the document of the format says`() throws {
        let key = try Self.key(0x0102)
        let expected: [UInt8] =
            [44, 2, 0x02, 0x01, 0, 0, 0, 0, 0, 0, 1, 1, 3, 0x80, 0x01] + (1...32).map { UInt8($0) } + [1, 0x6B]
        #expect(Array(Self.bytes(key, of: key.id).dropFirst(RecordCodec.frameCount)) == expected)
        let revoked = Self.bytes(nil, of: key.id, by: .key(key.id)).dropFirst(RecordCodec.frameCount)
        #expect(Array(revoked) == [44, 2, 0x02, 0x01, 0, 0, 0, 0, 0, 0, 0x86, 0x04, 0])
    }

    @Test func `a record cut at any byte is no record`() throws {
        var key = try Self.key(7, idPrefix: "job-")
        (key.expiresAt, key.lastUsedAt) = (70_000, 60_000)
        key.older = AccessKey.OlderSecret(digest: key.newest, until: 80_000)
        for body in [Self.bytes(key, of: key.id), Self.bytes(nil, of: key.id)].map({ Array($0.dropFirst(8)) }) {
            #expect(try isRead(body))
            for count in 1..<body.count { #expect(try !isRead(Array(body[..<count])), "\(count)") }
            #expect(try !isRead(body + [0]))
        }
    }

    @Test func `members that a key can't have are damage`() throws {
        let key = try Self.key(7, idPrefix: "job-")
        let body = Array(Self.bytes(key, of: key.id).dropFirst(RecordCodec.frameCount))
        func changed(_ index: Int, to byte: UInt8) -> [UInt8] {
            var changed = body
            changed[index] = byte
            return changed
        }
        #expect(try isRead(body))
        #expect(try !isRead(changed(9, to: 0x10)), "an id has 60 bits")
        #expect(try !isRead(changed(10, to: 3)), "no principal has this number")
        #expect(try !isRead(changed(11, to: 16)), "the key is there")
        #expect(try !isRead(changed(11, to: 17 + 32)), "this bit has no meaning")
        #expect(try !isRead(changed(12, to: 0)), "a key has a scope")
        #expect(try !isRead(changed(12, to: 16)), "there is no such scope")
        #expect(try !isRead(changed(12, to: 8)), "admin has no prefix")
        #expect(try !isRead(changed(body.count - 1, to: UInt8(ascii: " "))), "no id begins so")
        #expect(try !isRead(changed(body.count - 6, to: 0xFF)), "a name is UTF-8")
    }

    @Test func `the newest record of a key counts`() throws {
        let (first, second) = (try Self.key(1, "first"), try Self.key(2, "second"))
        let renamed = try Self.key(1, "renamed")
        let made = Self.bytes(first, of: first.id) + Self.bytes(second, of: second.id)
        #expect(try fold([made]).all == [first, second])
        #expect(try fold([made, Self.bytes(renamed, of: first.id)]).all == [renamed, second])
        let ring = try fold([made, Self.bytes(nil, of: first.id)])
        #expect(ring.all == [second] && ring[first.id] == nil)
    }

    @Test func `a key that was revoked and comes again is there`() throws {
        let key = try Self.key(1)
        let records = [Self.bytes(key, of: key.id), Self.bytes(nil, of: key.id), Self.bytes(key, of: key.id)]
        #expect(try fold([records.flatMap { $0 }]).all == [key])
        #expect(try fold(Array(records[..<2])).count == 0)
        #expect(try fold([records[1]]).count == 0)
    }
}
