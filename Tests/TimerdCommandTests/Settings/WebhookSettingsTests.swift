import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

struct WebhookSettingsTests {
    private func check(_ flags: [String]) -> CommandRun { CommandRun(["serve", "--check"] + flags) }

    @Test(arguments: [
        ("--webhook-per-host", "0"), ("--webhook-per-host", "many"), ("--webhook-concurrency", "0"),
        ("--webhook-concurrency", "1000000"), ("--webhook-backlog", "-1"), ("--webhook-backlog", "10M"),
        ("--webhook-dead-letters", "x"), ("--webhook-allow", "10.0.0.0/33"), ("--webhook-allow", "10.0.0.1/8"),
        ("--webhook-allow", "exa mple.com"), ("--webhook-deny", ""), ("--webhook-deny", "127.1"),
        ("--webhook-deny", "0x7f000001"), ("--webhook-deny", "::ffff:10.0.0.0/104"), ("--webhook-deny", "fd00::/129"),
    ])
    func `a value that makes no sense is refused with its flag`(flag: String, value: String) {
        let told = check(value.hasPrefix("-") ? ["\(flag)=\(value)"] : [flag, value]).refusal(64)
        #expect(told.hasPrefix("timerd: \(flag)"))
        #expect(value.isEmpty || told.contains(value))
    }

    @Test(arguments: [
        "http://127.0.0.1:3128", "https://user:p%40ss@proxy.example:443/", "socks5://[::1]:1080",
        "socks5h://proxy.example:1080",
    ])
    func `a proxy has a scheme, a host and a port`(proxy: String) {
        #expect(check(["--webhook-proxy", proxy]).code == 0)
    }

    @Test(arguments: [
        "", "proxy.example:3128", "ftp://proxy.example:3128", "http://", "http://proxy.example", "http://[::1]",
        "http://:3128", "http://proxy.example:0", "http://proxy.example:99999", "http://proxy.example:3128/path",
        "http://proxy.example:3128?q", "http://pro xy:3128", "socks5://proxy.example", "socks4://proxy.example:1080",
        "http://us er:pw@proxy.example:3128", "http://user:hunter2@proxy.example",
    ])
    func `anything else is no proxy, and is not shown`(proxy: String) {
        let told = check(["--webhook-proxy", proxy]).refusal(64)
        #expect(told.hasPrefix("timerd: --webhook-proxy: a proxy "))
        #expect(!told.contains("hunter2"))
    }

    @Test(arguments: ["--webhook-allow", "--webhook-deny"])
    func `rules that a proxy would leave unasked are refused`(rule: String) {
        let told = check(["--webhook-proxy", "http://127.0.0.1:3128", rule, "10.0.0.0/8"]).refusal(64)
        #expect(told.hasPrefix("timerd: --webhook-proxy: "))
    }

    @Test func `rules have a bound`() {
        func configure(_ count: Int) throws {
            let rules = (0..<count).map { "10.0.\($0 / 256).\($0 % 256)" }
            _ = try ServeConfiguration(SettingReader(flags: ["webhook-deny": rules], Environment([:])))
        }
        #expect(throws: Never.self) { try configure(1024) }
        let failure = #expect(throws: Failure.self) { try configure(1025) }
        #expect(failure?.line == "--webhook-deny 10.0.4.0: more than 1024 rules")
    }

    @Test(arguments: [
        ("http://user:hunter2@proxy.example:3128", "http://***@proxy.example:3128"),
        ("http://proxy.example:3128", "http://proxy.example:3128"),
    ])
    func `the report masks the password of a proxy, wherever it comes from`(proxy: String, shown: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("timerd.toml", Data("webhook-proxy = \"\(proxy)\"".utf8))
        for run in [
            check(["--webhook-proxy", proxy]), check(["--config", directory.file("timerd.toml")]),
            CommandRun("serve", "--check", variables: ["TIMERD_WEBHOOK_PROXY": proxy]),
        ] {
            #expect(run.printed().contains("\nwebhook-proxy = \"\(shown)\"  # "))
            #expect(!run.output.contains("hunter2") && !run.output.contains("user"))
        }
    }
}
