import Foundation
import HTTPServer
import TestSupport
import Testing
import TimerCore
import TimerLog
import TimerService

@testable import TimerdCommand

struct ServeConfigurationTests {
    private func check(_ flags: [String]) -> CommandRun { CommandRun(["serve", "--check"] + flags) }

    private func configuration(
        _ flags: [String: [String]], _ variables: [String: String] = [:]
    ) throws -> ServeConfiguration { try ServeConfiguration(SettingReader(flags: flags, Environment(variables))) }

    private static let nonsense: [(String, String)] = [
        ("--listen", "nonsense"), ("--listen", "127.0.0.1:99999"), ("--listen", "127.0.0.1:-1"), ("--listen", "unix:"),
        ("--listen", ":::::"), ("--store", "punchcards"), ("--durability", "sometimes"), ("--durability", "interval=x"),
        ("--durability", "interval="), ("--durability", "interval=0s"), ("--durability", "interval=61s"),
        ("--io-threads", "0"), ("--io-threads", "257"), ("--max-timers", "-1"), ("--max-timers", "many"),
        ("--max-timers", "0"), ("--max-timers", "2000000001"),
        ("--max-timers", "+5"), ("--max-timers", " 5"), ("--max-streams", "x"), ("--max-connections", "0"),
        ("--max-connections-per-address", "0"), ("--max-idempotency-keys", "0"),
        ("--max-idempotency-bytes", "1023KiB"), ("--max-idempotency-bytes", "1048576"), ("--retain-events", "x"),
        ("--retain-events", ""), ("--retain-events", "24h,1XB"), ("--retain-events", "1h,2h"),
        ("--retain-events", "1MiB,2MiB"), ("--retain-events", "1h,"), ("--heartbeat", "5parsecs"),
        ("--heartbeat", "0s"), ("--heartbeat", "9ms"), ("--heartbeat", "61m"), ("--idle-timeout", "999ms"),
        ("--idle-timeout", "61m"),
        ("--drain", "-1s"), ("--drain", "61m"), ("--alarm", "bell"), ("--log-level", "shouting"),
        ("--log-level", "Info"), ("--log-format", "xml"), ("--allow-host", ""), ("--allow-host", "a.example:80"),
        ("--data", ""), ("--audit-log", ""),
    ]

    @Test(arguments: nonsense)
    func `a value that makes no sense is refused by its flag`(flag: String, value: String) {
        #expect(
            check(value.hasPrefix("-") ? ["\(flag)=\(value)"] : [flag, value]).refusal(64).hasPrefix("timerd: \(flag)"))
    }

    private static let sensible: [(String, String)] = [
        ("--listen", "unix:/run/timerd.sock"), ("--listen", "[::1]:8080"), ("--store", "memory"),
        ("--durability", "interval=1ms"), ("--durability", "interval=60s"), ("--io-threads", "256"),
        ("--max-timers", "2000000000"),
        ("--max-idempotency-bytes", "1MiB"), ("--retain-events", "0s"), ("--retain-events", "1GiB"),
        ("--retain-events", "1GiB,PT24H"), ("--heartbeat", "10ms"), ("--heartbeat", "1h"), ("--idle-timeout", "1s"),
        ("--drain", "0s"), ("--alarm", "dispatch"), ("--log-level", "trace"), ("--log-level", "critical"),
        ("--log-format", "json"), ("--allow-host", "*"), ("--allow-host", ".example"),
        ("--audit-log", "-"),
    ]

    @Test(arguments: sensible)
    func `a value at its bound is taken`(flag: String, value: String) {
        let line = check([flag, value]).printed().split(separator: "\n").first { $0.hasSuffix("  # \(flag)") }
        #expect(line?.hasPrefix("\(flag.dropFirst(2)) = ") == true)
        #expect(line?.contains(value) == true)
    }

    @Test(arguments: [
        ("*:8080", "0.0.0.0"), ("example.com:80", "example.com is neither"), (" 127.0.0.1:8080", "blanks"),
        ("127.0.0.1:1, [::1]:8080", "blanks nor commas"), ("unix:/\(String(repeating: "a", count: 120))", "107"),
        ("127.1:80", "neither an IP address"),
    ])
    func `an address that no server could have is refused with the reason`(address: String, reason: String) {
        let told = check(["--listen", address]).refusal(64)
        #expect(told.hasPrefix("timerd: --listen: "))
        #expect(told.contains(reason))
    }

    @Test func `listeners have a bound`() {
        let most = (1...64).map { "127.0.0.1:\($0)" }
        #expect(throws: Never.self) { try configuration(["listen": most]) }
        let failure = #expect(throws: Failure.self) { try configuration(["listen": most + ["127.0.0.1:65"]]) }
        #expect(failure?.line == "--listen 127.0.0.1:65: more than 64 listeners")
    }

    @Test func `names of hosts have a bound`() {
        let failure = #expect(throws: Failure.self) {
            try configuration(["allow-host": (0...1024).map { "h\($0).example" }])
        }
        #expect(failure?.line == "--allow-host h1024.example: more than 1024 names")
    }

    @Test(arguments: [["--frobnicate"], ["extra"], ["--heartbeat"]])
    func `a flag that does not exist or has no value is refused with the way to the help`(flags: [String]) {
        let told = check(flags).refusal(64)
        #expect(told.contains(flags[0]))
        #expect(told.hasSuffix("; `timerd serve --help` tells more"))
    }

    @Test func `the help has every setting, its variable and its default`() {
        let help = CommandRun("serve", "--help").printed().split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for setting in Setting.serve + [.config] {
            #expect(help.contains("--\(setting.flag)"))
            #expect(help.contains("[\(setting.variable)"))
            if let initial = setting.initial { #expect(help.contains("\(setting.variable), default \(initial)]")) }
        }
    }

    @Test func `what an age or a size leaves out has no bound`() throws {
        let longest: Int64 = 36_525 * 86_400_000
        for (text, milliseconds, bytes) in [
            ("1h", 3_600_000, ByteSize.maximum), ("1MiB", longest, 1 << 20), ("1MiB,1h", 3_600_000, 1 << 20),
        ] {
            let engine = try configuration(["retain-events": [text]]).engine
            #expect(engine.retainMilliseconds == milliseconds)
            #expect(engine.retainBytes == bytes)
        }
    }

    @Test func `a log with keys is refused without a token file, with the way to one`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("tokens", Data("a-token-of-sixteen-bytes\n".utf8))
        let secret = KeySecret.draw()
        var keys = KeyRing()
        try configuration([:]).check(keys: keys)
        keys.set(
            AccessKey(id: secret.id, name: "k", scopes: .read, createdAt: 1, newest: secret.digest), for: secret.id)
        try configuration(["token-file": [directory.file("tokens")]]).check(keys: keys)
        let open = try configuration([:])
        let error = #expect(throws: StoreError.self) { try open.check(keys: keys) }
        #expect(error?.description.contains("--token-file or TIMERD_TOKEN_FILE") == true)
        #expect(error.map { Failure($0, directory: "d").code } == .unusable)
    }

    @Test func `sockets that were passed on stand in for the default listener`() throws {
        func configuration(_ flags: [String: [String]], count: String, to process: Int32) throws -> ServeConfiguration {
            try self.configuration(flags, ["LISTEN_FDS": count, "LISTEN_PID": "\(process)"])
        }
        let own = Environment.process
        let passed = try configuration([:], count: "2", to: own)
        #expect(passed.passedSockets.map(\.descriptor) == [3, 4])
        #expect(passed.listeners.isEmpty)
        #expect(try configuration(["listen": ["127.0.0.1:1"]], count: "1", to: own).listeners.count == 1)
        #expect(try configuration([:], count: "2", to: own + 1).passedSockets.isEmpty)
        for count in ["-1", "65", "x", ""] {
            let failure = #expect(throws: Failure.self) { try configuration([:], count: count, to: own) }
            #expect(failure?.code == .unusable)
        }
    }
}
