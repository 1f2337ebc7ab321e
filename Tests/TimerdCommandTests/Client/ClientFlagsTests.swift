import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

/// The server that a client command asks, and the token that it sends.
struct ClientFlagsTests {
    private static let good = "a-token-of-sixteen-bytes"
    private static let key = "tmk_p4itmmwg3jee_abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnop"
    private static let other = "this-token-is-another-one"

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("good", Data("# the first one\n\n\(Self.good)\nanother-token-of-this-server\n".utf8))
        try directory.write("other", Data("\(Self.other)\n".utf8))
        try directory.write("key", Data("\(Self.key)\n".utf8))
    }

    /// Flags and variables with `FILE`, `OTHER` and `KEY` for the files of tokens, and the token that is sent.
    private static let sources: [([String], [String: String], String?)] = [
        (["--token", good], ["TIMERD_TOKEN": other, "TIMERD_TOKEN_FILE": "OTHER"], good),
        (["--token", good, "--token-file", "OTHER"], [:], good),
        (["--token-file", "FILE"], ["TIMERD_TOKEN": other], good),
        ([], ["TIMERD_TOKEN": good], good), ([], ["TIMERD_TOKEN": good, "TIMERD_TOKEN_FILE": "OTHER"], good),
        ([], ["TIMERD_TOKEN_FILE": "FILE"], good), ([], ["TIMERD_TOKEN_FILE": "FILE\n"], good), ([], [:], nil),
        (["--token", key], [:], key), ([], ["TIMERD_TOKEN": key], key), (["--token-file", "KEY"], [:], key),
        ([], ["TIMERD_TOKEN_FILE": "KEY"], key), ([], ["TIMERD_TOKEN": good + "\n"], good),
        ([], ["TIMERD_TOKEN": " \t\(good)\r\n"], good),
    ]

    @Test(arguments: sources)
    func `a token comes from a flag, else a variable, the token itself before a file`(
        flags: [String], variables: [String: String], token: String?
    ) throws {
        func filled(_ text: String) -> String {
            [("FILE", "good"), ("OTHER", "other"), ("KEY", "key")].reduce(text) { text, name in
                text.replacing(name.0, with: directory.file(name.1))
            }
        }
        let server = ScriptedServer([.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")])
        defer { server.stop() }
        let run = CommandRun(
            ["stats", "--server", server.address] + flags.map(filled), variables: variables.mapValues(filled))
        #expect(run.code == 0)
        let lines = server.requests.first?.split(separator: "\r\n").filter { $0.hasPrefix("Authorization: ") } ?? []
        #expect(lines.map(String.init) == (token.map { ["Authorization: Bearer \($0)"] } ?? []))
    }

    @Test func `the server is that of the flag, else of the variable`() {
        let nowhere = "http://127.0.0.1:1"
        let run = CommandRun("stats", variables: ["TIMERD_SERVER": " \(nowhere)\n"])
        #expect(run.refusal(1).hasPrefix("timerd: \(nowhere): "))
        let flagged = CommandRun("stats", "--server", nowhere, variables: ["TIMERD_SERVER": "nonsense"])
        #expect(flagged.refusal(1).hasPrefix("timerd: \(nowhere): "))
    }

    @Test(
        arguments: [
            ("TIMERD_TOKEN", [], ["TIMERD_TOKEN": "secret-part\nanother-part"]),
            ("--token", ["--token", "secret-part\n"], [:]),
            ("TIMERD_TOKEN", [], ["TIMERD_TOKEN": "secret-part\u{1b}another"]),
            ("TIMERD_SERVER", [], ["TIMERD_SERVER": "http://secret-part\n:80"]),
        ] as [(String, [String], [String: String])])
    func `a control character in a value is told by the name of its setting`(
        name: String, flags: [String], variables: [String: String]
    ) {
        let told = CommandRun(["stats"] + flags, variables: variables).refusal(64)
        #expect(told == "timerd: \(name): the value has a control character in it, such as a newline")
    }

    @Test func `a token that can't be used is refused before a server is asked`() {
        #expect(
            CommandRun("list", variables: ["TIMERD_TOKEN": "\n"]).refusal(64) == "timerd: TIMERD_TOKEN is set and empty"
        )
        let none = directory.file("none")
        #expect(CommandRun("list", "--token-file", none).refusal(78).contains(none))
        #expect(CommandRun("list", "--token-file", "").refusal(64) == "timerd: --token-file : the value is empty")
    }

    @Test func `the authorities are read only where there is TLS`() {
        let absent = directory.file("absent")
        let plain = CommandRun("stats", "--server", "http://127.0.0.1:1", "--ca", absent)
        #expect(!plain.refusal(1).contains(absent))
        let told = "timerd: the file of authorities \(absent) can't be read or is no regular file"
        #expect(CommandRun("stats", "--server", "https://127.0.0.1:1", "--ca", absent).refusal(78) == told)
        let variables = ["TIMERD_SERVER": "https://127.0.0.1:1", "TIMERD_CA": absent]
        #expect(CommandRun("stats", variables: variables).refusal(78) == told)
        #expect(ClientFlags(words: ["get", "--ca", "x"]).ca == "x")
    }

    @Test(
        arguments: [
            (["timerd", "get", "--server", "http://x", ""], "http://x"), (["get", "--server=unix:/x"], "unix:/x"),
            (["get", "--server", "'http://x'"], "http://x"), (["get", "--server=\"http://x\""], "http://x"),
            (["get", "--server", "'"], "'"), (["get", "--server"], nil), (["get", "tea"], nil),
        ] as [([String], String?)])
    func `an incomplete line names the server`(words: [String], server: String?) {
        #expect(ClientFlags(words: words).server == server)
    }
}
