import Foundation
import Logging
import Platform
import TestSupport
import Testing

@testable import TimerdCommand

/// Keeps what is logged, with its reason.
private struct Lines: LogHandler {
    let kept = Guarded<[String]>([])
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let reason = event.metadata?["reason"].map { " \($0)" } ?? ""
        kept.withLock { $0.append("\(event.message)\(reason)") }
    }
}

/// A certificate that is replaced by the look at its files.
struct CertificateReloadTests {
    private let directory: TemporaryDirectory
    private let lines = Lines()
    private let running: Published<TLSIdentity?>
    private let replaced = Guarded<[String]>([])
    private let reload: CertificateReload

    init() throws {
        directory = try TemporaryDirectory()
        let (lines, replaced) = (lines, replaced)
        try Self.write(directory, PEM.first, PEM.firstKey)
        let files = TLSFiles(certificate: directory.file("tls.crt"), key: directory.file("tls.key"))
        running = Published(try TLSIdentity(files, files.read()))
        reload = CertificateReload(running, Logger(label: "test") { _ in lines }) { next in
            replaced.withLock { $0.append(next.pin) }
        }
    }

    private static func write(_ directory: TemporaryDirectory, _ certificate: String, _ key: String) throws {
        try directory.write("tls.crt", Data(certificate.utf8))
        try directory.write("tls.key", Data(key.utf8))
    }

    private var logged: [String] { lines.kept.withLock { $0 } }

    @Test func `files that are the same change nothing`() throws {
        try Self.write(directory, PEM.first, PEM.firstKey)
        reload.look()
        #expect(logged == [])
        #expect(replaced.value == [])
    }

    @Test func `a new pair is taken once`() throws {
        let first = try #require(running.value?.pin)
        try Self.write(directory, PEM.second, PEM.secondKey)
        reload.look()
        reload.look()
        let second = try #require(running.value?.pin)
        #expect(first != second)
        #expect(replaced.value == [second])
        #expect(logged.count == 1)
    }

    @Test(arguments: [
        (PEM.second, PEM.firstKey, "tls.key"), ("", PEM.firstKey, "tls.crt"),
        (PEM.expired, PEM.firstKey, "tls.crt"),
    ])
    func `a pair that can't be used is told once for each content, and changes nothing`(
        certificate: String, key: String, file: String
    ) throws {
        let before = running.value?.context
        try Self.write(directory, certificate, key)
        for _ in 0..<3 { reload.look() }
        #expect(logged.count == 1)
        #expect(logged.first?.contains(directory.file(file)) == true)
        try Self.write(directory, "another nonsense", key)
        for _ in 0..<3 { reload.look() }
        #expect(logged.count == 2)
        #expect(running.value?.context === before)
        #expect(replaced.value == [])
    }

    @Test func `a file that is missing for a while is told, and the rest goes on`() throws {
        try FileManager.default.removeItem(atPath: directory.file("tls.key"))
        reload.look()
        try directory.write("tls.key", Data(PEM.firstKey.utf8))
        reload.look()
        #expect(logged.count == 1)
        try FileManager.default.removeItem(atPath: directory.file("tls.key"))
        reload.look()
        #expect(logged.count == 2)
        #expect(replaced.value == [])
    }
}
