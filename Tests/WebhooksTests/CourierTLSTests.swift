import Foundation
import Testing
import TimerCore
import Webhooks

/// Whom a receiver must be able to prove to be.
struct CourierTLSTests {
    private static let openssl = "/usr/bin/openssl"

    /// `openssl s_server` on a free port with a certificate it signed itself.
    private final class SelfSigned {
        let port = Receiver.deadPort()
        private let directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
        private let server = Process()

        init() throws {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let key = directory.appending(path: "key.pem").path
            let certificate = directory.appending(path: "certificate.pem").path
            let maker = Process()
            maker.executableURL = URL(filePath: CourierTLSTests.openssl)
            maker.arguments = [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
                certificate,
            ]
            maker.standardError = FileHandle.nullDevice
            try maker.run()
            maker.waitUntilExit()
            let output = Pipe()
            server.executableURL = URL(filePath: CourierTLSTests.openssl)
            server.arguments = [
                "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate, "-key", key, "-www",
            ]
            server.standardOutput = output
            server.standardError = FileHandle.nullDevice
            try server.run()
            // It says ACCEPT once it listens.
            var said = Data()
            while !String(decoding: said, as: UTF8.self).contains("ACCEPT") {
                let more = output.fileHandleForReading.availableData
                guard !more.isEmpty else { break }
                said += more
            }
        }

        func stop() {
            // The threads of tests block other signals, and a child inherits that.
            kill(server.processIdentifier, SIGKILL)
            server.waitUntilExit()
            try? FileManager.default.removeItem(at: directory)
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: openssl), "needs the openssl command"))
    func `a certificate that nobody vouches for is refused`() throws {
        let server = try SelfSigned()
        let result = CourierHarness().exchange(["https://localhost:\(server.port)/"])[0]
        server.stop()
        #expect(result.status == 0)
        #expect(result.failure == .untrusted)
        #expect(result.error?.contains("certificate") == true)
    }

    @Test func `plain HTTP behind https is an error`() {
        let receiver = Receiver { visit in
            visit.answer(200)
            return .close
        }
        let result = CourierHarness().exchange(["https://127.0.0.1:\(receiver.port)/"], timeoutMs: 200)[0]
        receiver.stop()
        #expect(result.status == 0)
        #expect(result.error != nil)
    }
}
