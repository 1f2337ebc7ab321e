import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

struct SettingReaderTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func check(_ flags: String..., variables: [String: String] = [:]) -> CommandRun {
        CommandRun(["serve", "--check"] + flags, variables: variables)
    }

    private func file(_ text: String) throws -> String {
        try directory.write("timerd.toml", Data(text.utf8))
        return directory.file("timerd.toml")
    }

    @Test func `a flag wins over a variable, and a variable over the file`() throws {
        let path = try file(
            "max-timers = 1\nmax-streams = 2\nheartbeat = \"3s\"\nwebhook-deny = [\"10.0.0.1\", \"10.0.0.2\"]\n")
        let variables = [
            "TIMERD_MAX_TIMERS": "8", "TIMERD_MAX_STREAMS": "9", "TIMERD_ALLOW_HOST": "a.example,b.example",
        ]
        let run = check(
            "--config", path, "--max-timers", "7", "--webhook-deny", "10.0.0.9", "--webhook-deny", "10.0.0.8",
            variables: variables)
        let lines = run.printed().split(separator: "\n").map(String.init)
        for line in [
            "max-timers = 7  # --max-timers", "max-streams = 9  # TIMERD_MAX_STREAMS",
            "heartbeat = \"3s\"  # \(path):3", "drain = \"10s\"  # default",
            "webhook-deny = [\"10.0.0.9\", \"10.0.0.8\"]  # --webhook-deny",
            "allow-host = [\"a.example\", \"b.example\"]  # TIMERD_ALLOW_HOST",
        ] { #expect(lines.contains(line)) }
    }

    @Test func `a variable names the file too`() throws {
        let path = try file("max-timers = 3")
        let shown = check(variables: ["TIMERD_CONFIG": "\(path)\n"]).printed()
        #expect(shown.contains("\nmax-timers = 3  # \(path):1\n"))
    }

    @Test func `a flag without a value is true where it is given`() {
        let shown = check("--store", "postgres://127.0.0.1:1/x", "--migrate").printed()
        #expect(shown.contains("\nmigrate = true  # --migrate\n"))
        #expect(shown.contains("\naccept-loss = false  # default\n"))
    }

    @Test func `white space around the values of a variable is no part of them`() {
        let variables = [
            "TIMERD_LISTEN": " 127.0.0.1:0, [::1]:0\n", "TIMERD_MAX_TIMERS": "5\n", "TIMERD_DRAIN": "\t1s\r\n",
        ]
        let shown = check(variables: variables).printed()
        #expect(shown.contains("listen = [\"127.0.0.1:0\", \"[::1]:0\"]  # TIMERD_LISTEN\n"))
        #expect(shown.contains("\nmax-timers = 5  # TIMERD_MAX_TIMERS\n"))
        #expect(shown.contains("\ndrain = \"1s\"  # TIMERD_DRAIN\n"))
    }

    @Test(arguments: Setting.serve.map(\.variable), ["", " \n"])
    func `a variable that is set and empty is a mistake`(name: String, value: String) {
        #expect(check(variables: [name: value]).refusal(64) == "timerd: \(name) is set and empty")
    }

    @Test(arguments: [
        ("TIMERD_HEARTBEAT", "bogus"), ("TIMERD_STORE", "punchcards"), ("TIMERD_LISTEN", "nonsense"),
        ("TIMERD_LISTEN", ","), ("TIMERD_WEBHOOK_PER_HOST", "0"), ("TIMERD_WEBHOOK_ALLOW", "10.0.0.0/8,10.0.0.0/33"),
        ("TIMERD_WEBHOOK_PROXY", "proxy"), ("TIMERD_MIGRATE", "yes"),
    ])
    func `nonsense in a variable is refused by its name`(name: String, value: String) {
        #expect(check(variables: [name: value]).refusal(64).hasPrefix("timerd: \(name)"))
    }

    @Test(arguments: ["/a\n/b", "/a\u{1b}[31m", "/a\u{9b}b", "/a\u{7f}"])
    func `a control character in a value is refused without the value`(value: String) {
        let reason = "the value has a control character in it, such as a newline"
        #expect(check(variables: ["TIMERD_DATA": value]).refusal(64) == "timerd: TIMERD_DATA: \(reason)")
        #expect(check("--data", value).refusal(64) == "timerd: --data: \(reason)")
    }

    @Test func `a default that other things decide is shown in words`() throws {
        let lines = try ConfigurationReport.lines(try SettingReader(flags: [:], Environment([:])))
        #expect(lines.contains("# max-connections: by default --max-streams + 2048"))
        #expect(lines.contains("# max-connections-per-address: none"))
    }

    @Test func `a variable that is no setting is told, sorted`() {
        let environment = Environment([
            "TIMERD_HEARTBEET": "1s", "TIMERD_DATAS": "x", "TIMERD_SERVER": "x", "TIMERD_MEASURE_HOLDS": "1",
            "OTHER": "",
        ])
        #expect(environment.unknown == ["TIMERD_DATAS", "TIMERD_HEARTBEET"])
    }

    @Test func `a reload changes what can change under a running server`() throws {
        let path = try file("max-timers = 1\nlog-level = 'info'\nwebhook-deny = ['10.0.0.1']\n")
        let old = try SettingReader(flags: ["config": [path]], Environment([:]))
        try directory.write("timerd.toml", Data("max-timers = 2\nlog-level = 'debug'\ndrain = '1s'\n".utf8))
        let newer = try old.readAnew()
        let reloaded = old.reloaded(from: newer)
        #expect(try reloaded.one(.maxTimers).text == "1")
        #expect(try reloaded.one(.logLevel).text == "debug")
        #expect(try reloaded.all(.webhookDeny).isEmpty)
        #expect(try newer.differing(from: reloaded).map(\.flag) == ["max-timers", "drain"])
    }
}
