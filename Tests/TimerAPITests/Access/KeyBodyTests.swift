import TestSupport
import Testing
import TimerCore
import TimerService
import WireJSON

@testable import TimerAPI

/// Bodies of requests about keys, and keys and problems as clients see them.
struct KeyBodyTests {
    private static func fields(_ text: String) throws(Problem) -> KeyFields {
        var document = JSONDocument()
        do throws(JSONError) { try document.parse(Array(text.utf8)) } catch {
            throw Problem(.invalidRequest, error.message, pointer: error.pointer)
        }
        return try KeyFields(document)
    }

    /// The problem for which a body is refused; nil where it is taken.
    private static func refusal(_ read: () throws(Problem) -> Void) -> Problem? {
        do throws(Problem) { try read() } catch { return error }
        return nil
    }

    private static func key(_ number: UInt64 = 7, createdAt: Int64 = 1_700_000_000_000) throws -> AccessKey {
        AccessKey(
            id: try #require(KeyID(bits: number)), name: "n\"ame", scopes: [.kick, .read],
            idPrefix: Array("job-".utf8), createdAt: createdAt, expiresAt: 1_700_000_001_000,
            newest: try #require(KeyDigest([UInt8](repeating: 0xAB, count: KeyDigest.count))))
    }

    @Test func `a key is read as it was asked for`() throws {
        let least = try Self.fields(#"{"name":"a","scopes":["read"]}"#).draft()
        #expect(least == KeyDraft(name: "a", scopes: .read))
        let nulls = try Self.fields(#"{"name":"a","scopes":["read"],"idPrefix":null,"expiresAt":null}"#).draft()
        #expect(nulls == least)
        let whole = try Self.fields(
            #"{"name":"b","scopes":["write","kick"],"idPrefix":"job-","expiresAt":"2023-11-14T23:13:20+01:00"}"#
        ).draft()
        let expected = KeyDraft(
            name: "b", scopes: [.write, .kick], idPrefix: Array("job-".utf8), expiresAt: 1_700_000_000_000)
        #expect(whole == expected)
    }

    @Test(arguments: [
        (#"[]"#, ""), (#"{"scopes":["read"]}"#, "/name"), (#"{"name":null,"scopes":["read"]}"#, "/name"),
        (#"{"name":"","scopes":["read"]}"#, "/name"), (#"{"name":7,"scopes":["read"]}"#, "/name"),
        (#"{"name":"a"}"#, "/scopes"), (#"{"name":"a","scopes":null}"#, "/scopes"),
        (#"{"name":"a","scopes":[]}"#, "/scopes"), (#"{"name":"a","scopes":"read"}"#, "/scopes"),
        (#"{"name":"a","scopes":["read","x"]}"#, "/scopes/1"), (#"{"name":"a","scopes":[null]}"#, "/scopes/0"),
        (#"{"name":"a","scopes":["read","read"]}"#, "/scopes/1"),
        (#"{"name":"a","scopes":["read"],"idPrefix":""}"#, "/idPrefix"),
        (#"{"name":"a","scopes":["read"],"idPrefix":"a b"}"#, "/idPrefix"),
        (#"{"name":"a","scopes":["admin"],"idPrefix":"a"}"#, "/idPrefix"),
        (#"{"name":"a","scopes":["read"],"expiresAt":"soon"}"#, "/expiresAt"),
        (#"{"name":"a","scopes":["read"],"expiresAt":7}"#, "/expiresAt"),
    ])
    func `a body that makes no key is refused where it is wrong`(_ text: String, _ pointer: String) {
        let problem = Self.refusal { () throws(Problem) in _ = try Self.fields(text).draft() }
        #expect(problem?.kind == .invalidRequest && problem?.pointer == pointer)
    }

    @Test func `a name has 128 bytes at most`() throws {
        func body(_ count: Int) -> String {
            #"{"name":"\#(String(repeating: "x", count: count))","scopes":["read"]}"#
        }
        #expect(try Self.fields(body(128)).draft().name.utf8.count == 128)
        #expect(Self.refusal { () throws(Problem) in _ = try Self.fields(body(129)).draft() }?.pointer == "/name")
    }

    @Test func `a field that a key has not is unknown`() {
        let create = Self.refusal { () throws(Problem) in
            _ = try Self.fields(#"{"name":"a","scopes":["read"],"namespace":"x"}"#).draft()
        }
        #expect(create?.kind == .unknownField && create?.pointer == "/namespace")
        let patch = Self.refusal { () throws(Problem) in _ = try Self.fields(#"{"id":"a"}"#).patch() }
        #expect(patch?.kind == .unknownField && patch?.pointer == "/id")
        let rotation = Self.refusal { () throws(Problem) in _ = try Self.fields(#"{"after":"1h"}"#).overlap() }
        #expect(rotation?.kind == .unknownField && rotation?.pointer == "/after")
    }

    @Test func `a patch changes name and end, and null takes the end away`() throws {
        #expect(try Self.fields("{}").patch() == KeyPatch())
        #expect(try Self.fields(#"{"name":"b"}"#).patch() == KeyPatch(name: "b"))
        #expect(try Self.fields(#"{"expiresAt":null}"#).patch() == KeyPatch(expiresAt: .some(nil)))
        let end = try Self.fields(#"{"expiresAt":"2023-11-14T22:13:20Z"}"#).patch()
        #expect(end == KeyPatch(expiresAt: 1_700_000_000_000))
    }

    @Test(arguments: [
        (#"{"scopes":["read"]}"#, "/scopes"), (#"{"idPrefix":"a"}"#, "/idPrefix"), (#"{"name":null}"#, "/name"),
        (#"{"expiresAt":"x"}"#, "/expiresAt"),
    ])
    func `a patch changes no right`(_ text: String, _ pointer: String) {
        let problem = Self.refusal { () throws(Problem) in _ = try Self.fields(text).patch() }
        #expect(problem?.kind == .invalidRequest && problem?.pointer == pointer)
    }

    @Test func `an overlap is a duration, and none unless it is given`() throws {
        #expect(try Self.fields("{}").overlap() == 0)
        #expect(try Self.fields(#"{"overlap":null}"#).overlap() == 0)
        #expect(try Self.fields(#"{"overlap":"24h"}"#).overlap() == 86_400_000)
        let problem = Self.refusal { () throws(Problem) in _ = try Self.fields(#"{"overlap":"x"}"#).overlap() }
        #expect(problem?.kind == .invalidRequest && problem?.pointer == "/overlap")
    }

    @Test func `a key is shown without its hashes, and with a secret that is new`() throws {
        var json = JSONWriter()
        KeyJSON.write(try Self.key(), lastUsedAt: 1_700_000_040_000, &json)
        let shown =
            #"{"id":"aaaaaaaaaaah","name":"n\"ame","scopes":["read","kick"],"idPrefix":"job-","#
            + #""createdAt":"2023-11-14T22:13:20.000Z","expiresAt":"2023-11-14T22:13:21.000Z","#
            + #""lastUsedAt":"2023-11-14T22:14:00.000Z"}"#
        #expect(String(decoding: json.bytes, as: UTF8.self) == shown)
        var plain = AccessKey(
            id: try Self.key().id, name: "a", scopes: .admin, createdAt: 0, newest: try Self.key().newest)
        plain.name = "b"
        let secret = KeySecret(id: plain.id, random: [0, 0, 0, 0])
        json = JSONWriter()
        KeyJSON.write(plain, lastUsedAt: nil, secret: secret, &json)
        let text = String(decoding: json.bytes, as: UTF8.self)
        #expect(text.contains(#""idPrefix":null,"#) && text.contains(#""expiresAt":null,"lastUsedAt":null"#))
        #expect(text.hasSuffix(#""secret":"\#(secret.text)"}"#))
    }

    @Test func `a walk shows each key once, whatever was revoked`() throws {
        let keys = try (0..<10).map { try Self.key(UInt64($0), createdAt: Int64($0 / 3)) }
        var shown: [String] = []
        var left = keys
        var target = "/v1/keys?limit=3"
        while shown.count < 20 {
            var ring = KeyRing()
            for key in left { ring.set(key, for: key.id) }
            var page = JSONWriter()
            let cursor = try KeyPage(Target(Array(target.utf8))).write(ring, lastUse: { _ in nil }, &page)
            var document = JSONDocument()
            try document.parse(page.bytes)
            let list = try #require(document.member(document.root, "keys"))
            for node in document.children(of: list) {
                let id = try #require(document.member(node, "id"))
                shown.append(String(decoding: document.string(id), as: UTF8.self))
            }
            let next = try #require(document.member(document.root, "next"))
            guard let cursor else {
                #expect(document.kind(next) == .null)
                break
            }
            #expect(document.string(next) == Array(cursor.utf8))
            target = "/v1/keys?limit=3&cursor=\(cursor)"
            // The key at which the next page begins is gone.
            left.removeAll { $0.id.text == shown.last }
        }
        #expect(shown == keys.map(\.id.text))
    }

    @Test(arguments: [
        "x", "1", "1.", ".aaaaaaaaaaaa", "01.aaaaaaaaaaaa", "%2B1.aaaaaaaaaaaa", "1.aaaaaaaaaaa",
        "1.aaaaaaaaaaaa.", "x.aaaaaaaaaaaa",
    ])
    func `a cursor that no page gave is refused`(_ cursor: String) throws {
        let target = try Target(Array("/v1/keys?cursor=\(cursor)".utf8))
        let problem = Self.refusal { () throws(Problem) in _ = try KeyPage(target) }
        #expect(problem?.parameter == "cursor")
    }

    @Test func `a refusal by the rules is a problem that says what to do`() {
        let expected: [(KeyRefusal, ProblemKind, pointer: String?)] = [
            (.notFound, .notFound, nil), (.grantorIsGone, .unauthorized, nil), (.noTokens, .forbidden, nil),
            (.isFull, .timerLimit, nil), (.exists, .timerExists, nil), (.isExpired, .invalidRequest, nil),
            (.isPast, .invalidRequest, "/expiresAt"), (.prefixWithAdmin, .invalidRequest, "/idPrefix"),
            (.endsLater(than: 1_700_000_000_000), .forbidden, nil),
        ]
        for (refusal, kind, pointer) in expected {
            let problem = Problem(refusal)
            #expect(problem.kind == kind && problem.pointer == pointer && problem.timer == nil)
            if kind == .forbidden { #expect(problem.scope.map { "\($0)" } == "admin") }
        }
        #expect(Problem(.noTokens).detail.contains("--token-file"))
        #expect(Problem(.endsLater(than: 1_700_000_000_000)).detail.contains("2023-11-14T22:13:20.000Z"))
    }

    @Test func `a problem names the scope, or the prefix`() {
        func text(_ problem: Problem) -> String {
            var json = JSONWriter()
            problem.write(&json, instance: [], requestID: [])
            return String(decoding: json.bytes, as: UTF8.self)
        }
        let scope = text(.forbidden(.write))
        #expect(scope.contains(#""type":"/problems/forbidden""#) && scope.contains(#""status":403"#))
        #expect(scope.contains(#""scope":"write""#) && !scope.contains("idPrefix"))
        let prefix = text(.forbiddenBeyond(Array("job-".utf8)))
        #expect(prefix.contains(#""idPrefix":"job-""#) && !prefix.contains(#""scope""#))
    }
}
