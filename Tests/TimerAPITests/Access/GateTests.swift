import Platform
import TestSupport
import Testing
import TimerCore
import TimerService

@testable import TimerAPI

struct GateTests {
    @Test(arguments: [
        ("timers.example", "timers.example", true), ("Timers.Example", "timers.example", true),
        ("timers.example", "a.timers.example", false), ("timers.example", "timers.example.", false),
        (".svc.cluster.local", "timerd.default.svc.cluster.local", true),
        (".svc.cluster.local", "svc.cluster.local", false), (".svc.cluster.local", ".svc.cluster.local", false),
        (".svc.cluster.local", "xsvc.cluster.local", false), ("*", "whatever.example", true),
    ])
    func `a rule allows its names`(rule: String, host: String, isAllowed: Bool) throws {
        #expect(try #require(HostRule(rule)).allows(host) == isAllowed)
    }

    @Test(arguments: [
        "", ".", "..", "a..b", "a.", ".a.", "*.example", "**", "a:80", "timers.example:8080", "[::1]", "a b",
        "é.example", "a/b", "http://timers.example",
    ])
    func `what is no rule is refused`(text: String) {
        #expect(HostRule(text) == nil)
    }

    @Test(arguments: [
        ("Origin: http://localhost\r\n", 201), ("Origin: http://localhost\r\nOrigin: http://evil.example\r\n", 403),
        ("Origin: http://localhost\r\nORIGIN: http://localhost\r\n", 403), ("Sec-Fetch-Site: same-origin\r\n", 201),
        ("Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n", 403), ("Host: localhost\r\n", 400),
    ])
    func `what a browser sends once is refused if it comes twice`(lines: String, status: Int) throws {
        let server = try WholeServer()
        let answer = try server.ask("POST", "/v1/timers", #"{"after":"1h"}"#, headers: lines)
        #expect(answer.status == status)
        #expect(answer.text.contains("twice") == (status != 201))
        #expect(try server.ask("GET", "/v1/timers", headers: lines).status == (status == 400 ? 400 : 200))
    }

    @Test func `two credentials are refused where one is asked for`() throws {
        let server = try WholeServer {
            var settings = AccessSettings()
            settings.tokens = [Array("0123456789abcdef".utf8)]
            $0.access.publish(settings)
        }
        let (good, bad) = ("Authorization: Bearer 0123456789abcdef\r\n", "Authorization: Bearer x\r\n")
        for (lines, status) in [(good, 200), (bad, 401), (good + good, 400), (good + bad, 400), (bad + good, 400)] {
            #expect(try server.ask("GET", "/v1/timers", headers: lines).status == status)
        }
        #expect(try server.ask("GET", "/problems/unauthorized", headers: good + bad).status == 200)
    }

    @Test func `the use of a key is taken once in each minute`() {
        let secret = KeySecret(id: KeyID(random: 1), random: [1, 2, 3, 4])
        let key = AccessKey(id: secret.id, name: "k", scopes: .read, createdAt: 1, newest: secret.digest)
        let credential = Credential(Array("a line".utf8), .key(KeyHolder(key)), until: .max, gate: 0)
        let minutes: [Int64] = [0, 0, 7, 7, 6]
        #expect(minutes.map { credential.takeUse(in: $0) } == [key.id, nil, key.id, nil, key.id])
        #expect(Credential([], .token, until: .max, gate: 0).takeUse(in: 7) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("[::1]", true), ("[::ffff:10.0.0.1]", true), ("256.0.0.1", false), ("1.2.3", false),
        ("1.2.3.4.5", false), ("127.0.0.1.", false), ("[]", false), ("[:]", false), ("[dead]", false),
        ("[1.2.3.4]", false), ("[fe80::1%eth0]", false), ("localhost", false),
    ])
    func `an address is one in full`(host: String, isAddress: Bool) {
        #expect(Gate.isAddress(Array(host.utf8)[...]) == isAddress)
    }

    @Test(arguments: [
        ("localhost", "localhost"), ("localhost:80", "localhost"), ("localhost:", "localhost"), ("[::1]:80", "[::1]"),
        (":80", ""), ("a:b", nil), ("a:80:80", nil), ("[::1", nil), ("[]", nil), ("[::1]x", nil),
    ])
    func `a port is cut off`(authority: String, host: String?) {
        #expect(Gate.host(of: Array(authority.utf8)[...]).map { String(decoding: $0, as: UTF8.self) } == host)
    }
}
