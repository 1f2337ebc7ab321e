import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

/// The files of tokens and of webhook secrets: the lines that count, and the report of a bad one.
struct LineFileTests {
    private static let secrets = (1...6).map { number in
        "whsec_" + Data(repeating: UInt8(number), count: 32).base64EncodedString()
    }

    private let directory: TemporaryDirectory
    private var path: String { directory.file("lines") }

    init() throws { directory = try TemporaryDirectory() }

    private func write(_ text: String) throws { try directory.write("lines", Data(text.utf8)) }

    private func refusal(_ flag: String) -> String {
        let run = CommandRun("serve", "--check", flag, path)
        return run.refusal(78)
    }

    @Test func `blank lines and comments are skipped, and white space around a token is no part of it`() throws {
        try write("# tokens\n\nfirst-secret-of-16\n\t# one more\n  second-secret-of-2 \r\n#third-secret-of-three\n")
        let tokens = try TokenFile.read(path).map { String(decoding: $0, as: UTF8.self) }
        #expect(tokens == ["first-secret-of-16", "second-secret-of-2"])
    }

    @Test(arguments: [
        ("short-of-sixteen\nfifteen-byte-to\n", 2), ("a token of words\n", 1), ("t\u{f6}ken-of-sixteen-bytes\n", 1),
        ("a-token-of-sixteen-bytes\ntmk_p4itmmwg3jee_secret-of-a-key\n", 2), ("tmk_abcdefghijklmnop\n", 1),
        ((0..<1025).map { "token-number-\(100_000 + $0)" }.joined(separator: "\n"), 1025),
    ])
    func `a bad token is told by its line alone`(text: String, line: Int) throws {
        try write(text)
        let told = refusal("--token-file")
        #expect(told.contains("\(path), line \(line): "))
        for token in text.split(separator: "\n") { #expect(!told.contains(token)) }
    }

    @Test func `only a server refuses the secret of a key`() throws {
        try write("# the key of this machine\ntmk_p4itmmwg3jee_secret-of-a-key\nTMK_is-no-secret-of-a-key\n")
        #expect(try TokenFile.read(path).count == 2)
        #expect(
            refusal("--token-file").hasSuffix(
                "line 2: a token that begins with tmk_ would be taken for the secret of a key"))
    }

    @Test(arguments: ["", " ", "\n"])
    func `a variable that is set and empty is no way to have no tokens`(text: String) {
        let run = CommandRun("serve", "--check", variables: ["TIMERD_TOKEN_FILE": text])
        #expect(run.refusal(64) == "timerd: TIMERD_TOKEN_FILE is set and empty")
    }

    @Test(arguments: [
        "hunter2hunter2hunter2hunter2hunter2", "whsec_hunter2", "whsec_!!!hunter2!!!",
        "WHSEC_\(secrets[0].dropFirst(6))", "whsec_aHVudGVyMg==", "\(secrets[0]) \(secrets[1])", "whsec_",
    ])
    func `a bad secret is told by its line alone`(line: String) throws {
        try write("# comment\n\(Self.secrets[0])\n\(line)\n")
        let told = refusal("--webhook-secret-file")
        #expect(told.contains("\(path), line 3: "))
        #expect(!told.contains("hunter2") && !told.contains("aHVudGVy"))
        for secret in Self.secrets { #expect(!told.contains(secret.dropFirst(6))) }
    }

    @Test func `secrets have a bound`() throws {
        try write(Self.secrets.joined(separator: "\n"))
        #expect(refusal("--webhook-secret-file").contains("line 6: more than 5 secrets"))
        try write("# the new one\n\(Self.secrets[0])\n\n  \(Self.secrets[1])\t\r\n#\(Self.secrets[2])\n")
        #expect(try SecretFile.read(path).count == 2)
    }

    @Test(arguments: ["--token-file", "--webhook-secret-file"])
    func `a file of no use is refused by its name`(flag: String) throws {
        #expect(refusal(flag).contains("\(path) can't be read"))
        for text in ["", "\n", "# none yet\n   #old-token-of-sixteen\n"] {
            try write(text)
            #expect(refusal(flag).contains("\(path) has no "))
        }
        try directory.write("lines", Data([0xff, 0xfe, 0x0a]))
        #expect(refusal(flag).contains(path))
        try write(String(repeating: "#", count: 1 << 20) + "\n\n")
        #expect(refusal(flag).contains("\(path) is over 1 MiB"))
        #expect(CommandRun("serve", "--check", flag, directory.path).refusal(78).contains("can't be read"))
        #expect(CommandRun("serve", "--check", flag, "").refusal(64).contains(flag))
    }

    @Test(arguments: ["--token-file", "--webhook-secret-file"])
    func `the report has the name of a file, and nothing of what it holds`(flag: String) throws {
        try write(flag == "--token-file" ? "sixteen-byte-key" : Self.secrets[0])
        let shown = CommandRun("serve", "--check", flag, path).printed()
        #expect(shown.contains("\n\(flag.dropFirst(2)) = \"\(path)\"  # \(flag)\n"))
        #expect(!shown.contains("sixteen") && !shown.contains(Self.secrets[0]))
    }
}
