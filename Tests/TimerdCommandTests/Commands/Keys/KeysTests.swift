import TestSupport
import Testing

@testable import TimerdCommand

/// The commands about access keys: what they send, and what they print of the answers.
struct KeysTests {
    private static let key =
        #"{"id":"p4itmmwg3jee","name":"cron","scopes":["read","kick"],"idPrefix":"c.","#
        + #""createdAt":"2026-11-21T08:00:00.000Z","expiresAt":null,"lastUsedAt":null"#
    private static let secret = "tmk_p4itmmwg3jee_secret"
    private static let answer = "\(key),\"secret\":\"\(secret)\"}"

    /// Runs a command at a server with these answers. Returns the run, and the requests that the server got.
    private func ask(_ words: [String], _ answers: [(Int, String)]) -> (run: CommandRun, requests: [String]) {
        let script = answers.map { status, body in
            ScriptedServer.Step.answer("HTTP/1.1 \(status) Answer\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        let server = ScriptedServer(script)
        defer { server.stop() }
        return (CommandRun(words, variables: ["TIMERD_SERVER": server.address]), server.requests)
    }

    private func sent(_ request: String?) throws -> JSONObject {
        let text = try #require(request?.split(separator: "\r\n\r\n").last)
        return try #require(JSONObject(Array(text.utf8)))
    }

    @Test func `a new key's secret is alone on stdout, and its id is on stderr`() throws {
        let words = ["keys", "create", "cron", "--scope", "read", "--scope", "kick", "--id-prefix", "c."]
        let (run, requests) = ask(words, [(201, Self.answer)])
        #expect(run.code == 0)
        #expect(run.output == "\(Self.secret)\n")
        #expect(run.errors == "key p4itmmwg3jee made; its secret is shown this once\n")
        #expect(requests.first?.hasPrefix("POST /v1/keys HTTP/1.1\r\n") == true)
        let body = try sent(requests.first)
        #expect(body.names == ["name", "scopes", "idPrefix"])
        #expect(body["name"] == "cron" && body.strings("scopes") == ["read", "kick"] && body["idPrefix"] == "c.")
    }

    @Test func `with --json the answer is printed as it came`() {
        let json = ask(["keys", "create", "cron", "--scope", "read", "--json"], [(201, Self.answer)]).run
        #expect(json.printed() == "\(Self.answer)\n")
    }

    @Test func `a key that may only kick sees that the kick was done, and nothing of the timer`() {
        let (kick, requests) = ask(["kick", "a", "b"], [(204, ""), (204, "")])
        #expect(kick.code == 0 && kick.output == "a: done\nb: done\n" && kick.errors == "")
        #expect(requests.map { $0.prefix(24) } == ["POST /v1/timers/a/kick H", "POST /v1/timers/b/kick H"])
        let json = ask(["kick", "a", "--json"], [(204, "")]).run
        #expect(json.code == 0 && json.output == "")
    }

    @Test(arguments: [["keys", "create", "cron"], ["keys", "create", "--scope", "read"]])
    func `a key needs a name and a scope`(words: [String]) {
        #expect(CommandRun(words).refusal(64).contains("`timerd keys create --help` tells more"))
    }

    @Test(arguments: [
        ("90d", "2027-02-19T09:00:00.000Z"), ("PT1H", "2026-11-21T10:00:00.000Z"), ("1.5s", "2026-11-21T09:00:01.500Z"),
        ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"), ("soon", "soon"), ("", ""),
    ])
    func `an end is a duration from now, or what the server makes of it`(text: String, sent: String) {
        #expect(KeyCreate.instant(text, now: 1_795_251_600_000) == sent)
    }

    @Test(
        arguments: [
            ([], [], "the one before has ended"),
            (["--overlap", "24h"], ["overlap"], "the one before ends 24h from now"),
        ] as [([String], [String], String)])
    func `a rotation prints the new secret`(flags: [String], names: [String], before: String) throws {
        let (run, requests) = ask(["keys", "rotate", "p4itmmwg3jee"] + flags, [(200, Self.answer)])
        #expect(run.output == "\(Self.secret)\n")
        #expect(run.errors == "key p4itmmwg3jee has a new secret, which is shown this once; \(before)\n")
        #expect(requests.first?.hasPrefix("POST /v1/keys/p4itmmwg3jee/rotate HTTP/1.1\r\n") == true)
        #expect(try sent(requests.first).names == names)
    }

    @Test func `a list has a row for each key, and says how to go on`() {
        let page = #"{"keys":[\#(Self.key)}],"next":"1.a"}"#
        let (first, requests) = ask(["keys", "list", "--limit", "1"], [(200, page)])
        #expect(first.errors == "more: --cursor 1.a\n")
        #expect(requests.first?.hasPrefix("GET /v1/keys?limit=1 HTTP/1.1\r\n") == true)
        let lines = first.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.first == ["ID", "NAME", "SCOPES", "PREFIX", "MADE", "USED", "ENDS"])
        #expect(lines.last?.prefix(4) == ["p4itmmwg3jee", "cron", "read,kick", "c."])
        #expect(lines.last?.suffix(2) == ["never", "never"])
        let all = ask(["keys", "list", "--all"], [(200, page), (200, #"{"keys":[],"next":null}"#)])
        #expect(all.run.errors == "")
        #expect(all.requests.last?.hasPrefix("GET /v1/keys?cursor=1.a HTTP/1.1\r\n") == true)
    }

    @Test func `a key is shown whole`() {
        let shown = ask(["keys", "show", "self"], [(200, "\(Self.key)}")])
        #expect(shown.requests.first?.hasPrefix("GET /v1/keys/self HTTP/1.1\r\n") == true)
        #expect(shown.run.printed().split(separator: "\n").first == "id         p4itmmwg3jee")
    }

    @Test func `keys are revoked one after the other`() {
        let revoked = ask(["keys", "revoke", "a", "b"], [(204, ""), (204, "")])
        #expect(revoked.run.printed() == "a: revoked\nb: revoked\n")
        #expect(
            revoked.requests.map { $0.split(separator: "\r\n").first }
                == ["DELETE /v1/keys/a HTTP/1.1", "DELETE /v1/keys/b HTTP/1.1"])
    }
}
