import Foundation
import HTTPServer
import Platform
import TestSupport
import Testing

@testable import TimerdCommand

/// The settings of listeners with TLS, and what is wrong with their files.
struct TLSIdentityTests {
    private static let secure = "https://127.0.0.1:8443"

    private let directory: TemporaryDirectory
    private var certificate: String { directory.file("tls.crt") }
    private var key: String { directory.file("tls.key") }

    init() throws {
        directory = try TemporaryDirectory()
        try write(PEM.first, PEM.firstKey)
    }

    private func write(_ certificate: String, _ key: String) throws {
        try directory.write("tls.crt", Data(certificate.utf8))
        try directory.write("tls.key", Data(key.utf8))
    }

    private func check(_ flags: [String], variables: [String: String] = [:]) -> CommandRun {
        CommandRun(["serve", "--check"] + flags, variables: variables)
    }

    private var pair: [String] { ["--tls-certificate", certificate, "--tls-key", key] }

    @Test func `a listener with TLS takes a pair, from flags or variables`() {
        let shown = check(["--listen", Self.secure] + pair).printed()
        #expect(shown.contains("\ntls-certificate = \"\(certificate)\"  # --tls-certificate\n"))
        let variables = ["TIMERD_LISTEN": Self.secure, "TIMERD_TLS_CERTIFICATE": certificate, "TIMERD_TLS_KEY": key]
        #expect(check([], variables: variables).code == 0)
    }

    @Test func `the settings go together`() {
        #expect(
            check(["--listen", Self.secure]).refusal(64)
                == "timerd: --listen \(Self.secure): a listener with TLS needs --tls-certificate and --tls-key")
        for flags in [Array(pair.prefix(2)), Array(pair.suffix(2))] {
            #expect(
                check(["--listen", Self.secure] + flags).refusal(64)
                    == "timerd: \(flags[0]) \(flags[1]): --tls-certificate and --tls-key go together")
        }
        #expect(check(pair).refusal(64).hasPrefix("timerd: --tls-certificate \(certificate): no listener has TLS; "))
    }

    @Test(arguments: ["https://unix:/run/x", "https://", "https://127.0.0.1", "https://::1:8443", "https://0.0.0.0:x"])
    func `an address with TLS is a host with a port`(address: String) {
        #expect(check(["--listen", address] + pair).refusal(64).hasPrefix("timerd: --listen: \(address): "))
    }

    private static let broken = [
        (PEM.first, PEM.secondKey, "key", "is not that of the certificate"),
        (PEM.first, PEM.lockedKey, "key", "without a password"),
        (PEM.first, "sesame-17\n", "key", "no private key in PEM"),
        (PEM.first, "", "key", "no private key in PEM"),
        ("sesame-17\n", PEM.firstKey, "certificate", "no chain of certificates in PEM"),
        (String(PEM.first.prefix(200)), PEM.firstKey, "certificate", "no chain"),
        (PEM.expired, PEM.firstKey, "certificate", "has expired"),
    ]

    @Test(arguments: broken)
    func `files that can't be used are named`(_ pem: String, _ keyPEM: String, _ part: String, _ reason: String) throws
    {
        try write(pem, keyPEM)
        let told = check(["--listen", Self.secure] + pair).refusal(78)
        #expect(told.hasPrefix("timerd: --tls-\(part) \(part == "key" ? key : certificate): the \(part) "))
        #expect(told.contains(reason))
        #expect(!told.contains("sesame"))
    }

    @Test func `a file that can't be read is named`() {
        let absent = directory.file("absent")
        for (flags, name) in [([absent, key], "certificate"), ([certificate, directory.path], "key")] {
            let given = ["--listen", Self.secure, "--tls-certificate", flags[0], "--tls-key", flags[1]]
            let file = name == "key" ? flags[1] : flags[0]
            #expect(check(given).refusal(78).hasPrefix("timerd: --tls-\(name) \(file): the file can't be read"))
        }
    }

    @Test func `a server keeps what it has while the files are the same, expired or not`() throws {
        let settings = try SettingReader(
            flags: ["listen": [Self.secure], "tls-certificate": [certificate], "tls-key": [key]], Environment([:]))
        let running = try #require(try ServeConfiguration(settings).tls.value)
        let same = try ServeConfiguration(settings, running: running).tls.value
        #expect(same?.context === running.context)
        try write(PEM.second, PEM.secondKey)
        let next = try #require(try ServeConfiguration(settings, running: running).tls.value)
        #expect(next.contents != running.contents)
        #expect(next.pin != running.pin)
    }

    @Test func `sockets that are called https have TLS`() throws {
        func passed(_ names: String?) throws -> [Bool] {
            var variables = ["LISTEN_FDS": "3", "LISTEN_PID": "\(Environment.process)"]
            variables["LISTEN_FDNAMES"] = names
            return try PassedSockets.all(Environment(variables)).map(\.isSecure)
        }
        #expect(try passed(nil) == [false, false, false])
        #expect(try passed("https") == [true, false, false])
        #expect(try passed("http:https:https") == [false, true, true])
        #expect(try passed(":https") == [false, true, false])
    }
}
