import TestSupport
import Testing
import TimerCore
import WireJSON

@testable import TimerAPI

/// The lines of access keys in an export, read as an import reads them.
struct KeyLineTests {
    private func read(_ line: [UInt8], dropsSecrets: Bool = false) throws(Problem) -> AccessKey? {
        var document = JSONDocument()
        do throws(JSONError) { try document.parse(line) } catch {
            throw Problem(.invalidRequest, error.message, pointer: error.pointer)
        }
        let line = try ImportLine(document, export: "", dropsSecrets: dropsSecrets, zones: UTCOnly())
        guard case .key(let key) = line else {
            Issue.record("the line is no key's")
            return nil
        }
        return key
    }

    private func refusal(_ line: String, dropsSecrets: Bool = false) -> Problem? {
        do throws(Problem) { _ = try read(Array(line.utf8), dropsSecrets: dropsSecrets) } catch { return error }
        return nil
    }

    private static func keys() throws -> [AccessKey] {
        let newest = KeyDigest((0..<32).map { UInt8($0 * 7) })
        let older = KeyDigest([UInt8](repeating: 0xF0, count: 32))
        let plain = AccessKey(
            id: KeyID(random: .max), name: "plain", scopes: .admin, createdAt: 1_700_000_000_000,
            newest: try #require(newest))
        var full = AccessKey(
            id: KeyID(random: 1 << 40), name: "n\u{e4}me \"x\"", scopes: [.read, .kick], idPrefix: Array("job-".utf8),
            createdAt: 1_700_000_000_001, expiresAt: 1_700_000_000_002, newest: try #require(newest))
        full.older = AccessKey.OlderSecret(digest: try #require(older), until: 1_700_000_000_003)
        full.lastUsedAt = 1_699_999_980_000
        return [plain, full]
    }

    @Test func `a key is read as it was written`() throws {
        for key in try Self.keys() {
            var json = JSONWriter()
            KeyLine.write(key, lastUsedAt: key.lastUsedAt, showsSecrets: true, &json)
            #expect(json.bytes.last == UInt8(ascii: "\n"))
            #expect(try read(json.bytes) == key)
            #expect(try read(json.bytes, dropsSecrets: true) == key)
        }
    }

    @Test func `a key without its secrets is refused, or left out`() throws {
        for key in try Self.keys() {
            var json = JSONWriter()
            KeyLine.write(key, lastUsedAt: key.lastUsedAt, showsSecrets: false, &json)
            let line = String(decoding: json.bytes, as: UTF8.self)
            #expect(!line.contains("sha256"))
            #expect(refusal(line)?.pointer == "/key/secrets")
            #expect(try read(json.bytes, dropsSecrets: true) == nil)
        }
    }

    private static let hash = String(repeating: "0f", count: 32)

    private static func line(
        _ secrets: String, scopes: String = #"["read"]"#, id: String = "aaaaaaaaaaaa", more: String = ""
    ) -> String {
        #"{"key":{"id":"\#(id)","name":"a","scopes":\#(scopes),"createdAt":"2023-11-14T22:13:20Z","#
            + #""secrets":\#(secrets)\#(more)}}"#
    }

    static let refused: [(String, String)] = [
        (line("[]"), "/key/secrets"), (line("{}"), "/key/secrets"), (line("[1]"), "/key/secrets"),
        (line(#"[{"sha256":"\#(hash)"},{"sha256":"\#(hash)","until":"2023-11-14T22:13:20Z"},{}]"#), "/key/secrets"),
        (line(#"[{"sha256":"\#(hash)"},{"sha256":"\#(hash)"}]"#), "/key/secrets/1/until"),
        (line(#"[{"sha256":"\#(hash)","until":"2023-11-14T22:13:20Z"}]"#), "/key/secrets/0/until"),
        (line(#"[{"sha256":"\#(hash)0"}]"#), "/key/secrets/0/sha256"),
        (line(#"[{"sha256":"\#(hash.uppercased())"}]"#), "/key/secrets/0/sha256"),
        (line(#"[{}]"#), "/key/secrets/0/sha256"),
        (line(#"[{"sha256":"\#(hash)"}]"#, scopes: #"["all"]"#), "/key/scopes/0"),
        (line(#"[{"sha256":"\#(hash)"}]"#, scopes: #"["admin"]"#, more: #","idPrefix":"a""#), "/key/idPrefix"),
        (line(#"[{"sha256":"\#(hash)"}]"#, id: "aaaaaaaaaaa1"), "/key/id"),
        (line(#"[{"sha256":"\#(hash)"}]"#, more: #","x":1"#), "/key/x"),
        (#"{"key":7}"#, "/key"), (#"{"key":{},"x":1}"#, "/x"),
    ]

    @Test(arguments: refused)
    func `a line that is no key is refused where it is wrong`(_ line: String, _ pointer: String) {
        #expect(refusal(line)?.pointer == pointer)
    }

    @Test func `a line of a key is taken`() { #expect(refusal(Self.line(#"[{"sha256":"\#(Self.hash)"}]"#)) == nil) }
}
