import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

/// The settings of a database as store.
struct StoreKindTests {
    private static let address = "postgres://timerd@127.0.0.1:1/timers"
    private static let secret = "sesame-17"
    private static let withPassword = "postgres://timerd:\(secret)@127.0.0.1:1/timers"

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func check(_ flags: [String], variables: [String: String] = [:]) -> CommandRun {
        let run = CommandRun(["serve", "--check"] + flags, variables: variables)
        #expect(!(run.output + run.errors).contains(Self.secret))
        return run
    }

    @Test(arguments: [withPassword, "postgres://127.0.0.1:1/timers?password=\(secret)"])
    func `a password on the command line is a mistake`(uri: String) {
        #expect(check(["--store", uri]).refusal(64).contains("TIMERD_STORE"))
    }

    @Test(arguments: [withPassword, "postgres://127.0.0.1:1/timers?user=timerd&password=\(secret)"])
    func `a password in the variable is taken and not shown`(uri: String) {
        let shown = check([], variables: ["TIMERD_STORE": uri]).printed()
        #expect(shown.contains("\nstore = \"postgres://***\"  # TIMERD_STORE\n"))
    }

    @Test func `the first line of a file is the password`() throws {
        try directory.write("password", Data("\(Self.secret)\nanother line\n".utf8))
        let file = directory.file("password")
        let shown = check(["--store", Self.address, "--store-password-file", file]).printed()
        #expect(shown.contains("\nstore = \"\(Self.address)\"  # --store\n"))
        #expect(try PasswordFile.read(file) == Self.secret)
    }

    @Test(
        arguments: [
            nil, "", "\nsecond\n", " \t\nsecond\n", "pass\u{7}word\n", String(repeating: "x", count: 5000),
        ] as [String?])
    func `a file without a password is refused by its name`(content: String?) throws {
        if let content { try directory.write("password", Data(content.utf8)) }
        let file = directory.file("password")
        let told = check(["--store", Self.address, "--store-password-file", file]).refusal(78)
        #expect(told.contains(" \(file) "))
        #expect(!told.contains("\u{7}") && !told.contains("xxx"))
    }

    @Test func `what a database does not need is refused with what to use`() {
        let database = ["--store", Self.address]
        #expect(check(database + ["--durability", "interval=1s"]).refusal(78).contains("synchronous_commit"))
        #expect(check(database + ["--data", "/somewhere"]).refusal(78).contains("leave it out"))
        #expect(check(database, variables: ["TIMERD_DATA": "/data"]).code == 0)
    }

    @Test(arguments: [
        ["--store-password-file", "/x"], ["--cluster-url", "http://10.0.0.1:8080"], ["--migrate"], ["--accept-loss"],
        ["--standby", "cold"],
        ["--cluster-listen", "127.0.0.1:8081"], ["--cluster-token-file", "/x"],
    ])
    func `what only a database has is refused elsewhere`(flags: [String]) {
        let told = check(flags).refusal(64)
        #expect(told.contains(flags[0]))
        #expect(told.hasSuffix(": it is for --store postgres://… alone"))
    }

    @Test(arguments: [
        ["--cluster-url", "10.0.0.1:8080"], ["--cluster-url", "http://"], ["--cluster-url", "http://a b"],
        ["--cluster-listen", "127.0.0.1:8081"], ["--cluster-token-file", "/x"],
        ["--cluster-listen", "8081", "--cluster-token-file", "/x"],
        ["--cluster-listen", "unix:/x", "--cluster-token-file", "/x"],
    ])
    func `a setting of a cluster that makes no sense is refused by its flag`(flags: [String]) {
        #expect(check(["--store", Self.address] + flags).refusal(64).hasPrefix("timerd: \(flags[0])"))
    }

    @Test func `an address that libpq does not understand is refused`() {
        #expect(check(["--store", "mysql://127.0.0.1/x"]).refusal(64).hasPrefix("timerd: --store mysql://127.0.0.1/x"))
        #expect(check(["--store", "postgres://127.0.0.1/x?nosuchthing=1"]).refusal(64).contains("nosuchthing"))
    }

    @Test func `migrate needs a database and hides its password`() {
        #expect(CommandRun("store", "migrate", "--store", "sqlite").refusal(64).contains("postgres://"))
        let told = CommandRun("store", "migrate", variables: ["TIMERD_STORE": Self.withPassword]).refusal(1)
        #expect(!told.contains(Self.secret))
        #expect(told.contains("127.0.0.1"))
    }
}
