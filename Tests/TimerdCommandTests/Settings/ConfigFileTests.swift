import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

struct ConfigFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Writes a file of settings. Returns its path.
    private func file(_ text: String) throws -> String {
        try directory.write("timerd.toml", Data(text.utf8))
        return directory.file("timerd.toml")
    }

    private func check(_ text: String) throws -> CommandRun {
        CommandRun("serve", "--check", "--config", try file(text))
    }

    /// A line for every setting that needs no database.
    private static let settings = [
        "listen = [\"127.0.0.1:0\"]", "data = \"/nowhere/data\"", "store = \"memory\"", "migrate = false",
        "accept-loss = false", "durability = \"interval=50ms\"", "io-threads = 3", "max-timers = 5", "max-streams = 6",
        "max-connections = 12", "max-connections-per-address = 13", "idle-timeout = \"90s\"",
        "max-idempotency-keys = 7", "max-idempotency-bytes = \"1MiB\"", "retain-events = \"1h,1MiB\"",
        "heartbeat = \"3s\"", "drain = \"1s\"", "alarm = \"dispatch\"",
        "allow-host = [\"timers.example\", \".svc.cluster.local\"]", "audit-log = \"-\"", "log-level = \"warning\"",
        "log-format = \"json\"", "webhook-per-host = 8", "webhook-concurrency = 9", "webhook-backlog = 10",
        "webhook-dead-letters = 11", "webhook-allow = [\"10.0.0.0/8\"]",
        "webhook-deny = [\"10.1.0.0/16\", \".example\"]",
    ]

    @Test func `every flag of serve is a key`() throws {
        try directory.write("tokens", Data("sixteen-byte-key\n".utf8))
        try directory.write("secrets", Data("whsec_\(String(repeating: "A", count: 40))\n".utf8))
        let files = [
            "token-file = \"\(directory.file("tokens"))\"", "webhook-secret-file = \"\(directory.file("secrets"))\"",
        ]
        let lines = Self.settings + files
        let path = try file(lines.joined(separator: "\n"))
        let shown = CommandRun("serve", "--check", "--config", path).printed().split(separator: "\n").map(String.init)
        for (index, line) in lines.enumerated() { #expect(shown.contains("\(line)  # \(path):\(index + 1)")) }
        let keys = lines.map { String($0.prefix { $0 != " " }) }
        let others = [
            "webhook-proxy", "store-password-file", "cluster-url", "cluster-listen", "cluster-token-file", "standby",
            "tls-certificate", "tls-key",
        ]
        #expect((keys + others).sorted() == Setting.serve.map(\.flag).sorted())
        let help = CommandRun("serve", "--help").printed().split(separator: "\n").filter { $0.hasPrefix("  --") }
        let flags = help.map { String($0.dropFirst(4).prefix { $0.isLetter || $0 == "-" }) }
        #expect(flags.sorted() == (keys + others + ["config", "check", "version"]).sorted())
    }

    @Test(arguments: ["retain-events = [\"1h\", \"1MiB\"]", "retain-events = \"1h,1MiB\""])
    func `parts are a list or stand between commas`(line: String) throws {
        #expect(try check(line).printed().contains("\nretain-events = \"1h,1MiB\"  # "))
    }

    @Test func `one string is a list of one`() throws {
        #expect(try check("allow-host = 'a.example'").printed().contains("\nallow-host = [\"a.example\"]  # "))
    }

    @Test func `an empty list is none`() throws {
        #expect(try check("webhook-deny = []").printed().contains("\n# webhook-deny: none\n"))
    }

    @Test func `no listener at all is refused`() throws {
        #expect(try check("listen = []").refusal(78) == "timerd: there is no address to listen at")
    }

    private static let badLines: [(String, Int, String)] = [
        ("max-timers = 5\n\nheart-beat = '1s'\n", 3, "heart-beat"), ("[serve]\nmax-timers = 5\n", 1, "serve"),
        ("config = 'other.toml'\n", 1, "config"), ("token = 'x'\n", 1, "token"), ("server = 'http://x'\n", 1, "server"),
        ("max_timers = 5\n", 1, "max_timers"), ("check = true\n", 1, "check"), ("Max-Timers = 5\n", 1, "Max-Timers"),
        ("\nmax-timers = '5'\n", 2, "whole number"), ("max-timers = 5.0\n", 1, "whole number"),
        ("max-timers = [5]\n", 1, "whole number"), ("heartbeat = 15\n", 1, "a string"),
        ("heartbeat = ['15s']\n", 1, "a string"), ("store = true\n", 1, "a string"),
        ("migrate = 'true'\n", 1, "true or false"), ("heartbeat.a = '15s'\n", 1, "a string"),
        ("listen = 8080\n", 1, "list of strings"), ("listen = [\n'127.0.0.1:0',\n8080]\n", 3, "list of strings"),
        ("retain-events = 24\n", 1, "list of strings"), ("listen = [['127.0.0.1:0']]\n", 1, "list of strings"),
        ("max-timers = 0\n", 1, "expected a whole number"), ("heartbeat = '0s'\n", 1, "expected from"),
        ("webhook-deny = ['10.0.0.0/8',\n'nonsense/99']\n", 2, "nonsense"),
        ("listen = ['127.0.0.1:0', 'nonsense']\n", 1, "nonsense"), ("log-level = 'shouting'\n", 1, "shouting"),
        ("allow-host = '*.example'\n", 1, "example"), ("max-timers = 5\nmax-timers = 6\n", 2, "max-timers"),
        ("max-timers\n", 1, "timerd.toml"), ("max-timers = 5 6\n", 1, "timerd.toml"),
        ("max-timers = 99999999999999999999\n", 1, "timerd.toml"), ("heartbeat = '", 1, "timerd.toml"),
        ("data = \"/a\\n/b\"\n", 1, "data: the value has a control character"),
    ]

    @Test(arguments: badLines)
    func `a bad line is refused by its number`(text: String, line: Int, words: String) throws {
        let told = try check(text).refusal(78)
        #expect(told.hasPrefix("timerd: \(directory.file("timerd.toml")):\(line): "))
        #expect(told.contains(words))
    }

    @Test func `a password in a bad line is not shown`() throws {
        let told = try check("webhook-proxy = 'ftp://user:topsecret@proxy:1'\n").refusal(78)
        #expect(told.contains("webhook-proxy"))
        #expect(!told.contains("topsecret"))
    }

    @Test func `a long file is read`() throws {
        let comments = (0..<20_000).map { "# line \($0) of a comment that goes on\n" }.joined()
        #expect(try check(comments + "max-timers = 9\n").printed().contains("\nmax-timers = 9  # "))
        let keys = (0..<50_000).map { "key-\($0) = \($0)\n" }.joined()
        #expect(try check(keys).refusal(78).contains("timerd.toml:1: "))
    }

    @Test(arguments: ["listen = [", "listen = {a=", "listen = [{a=", "a."])
    func `a deep file is refused`(opening: String) throws {
        let (key, nested) = opening.hasPrefix("listen") ? ("listen = ", String(opening.dropFirst(9))) : ("", opening)
        let told = try check(key + String(repeating: nested, count: 100_000) + "b = 1\n").refusal(78)
        #expect(told.contains("timerd.toml"))
    }

    @Test func `what is no file of at most 1 MiB is refused by its name`() throws {
        try directory.write("large", Data(count: 1 << 20 + 1))
        for path in [directory.path, directory.file("absent"), "/dev/null", directory.file("large")] {
            #expect(CommandRun("serve", "--check", "--config", path).refusal(78).contains(" \(path) "))
        }
    }

    @Test func `an empty name of a file is refused`() {
        #expect(CommandRun("serve", "--check", "--config", "").refusal(64).contains("--config"))
        let run = CommandRun("serve", "--check", variables: ["TIMERD_CONFIG": ""])
        #expect(run.refusal(64) == "timerd: TIMERD_CONFIG is set and empty")
    }
}
