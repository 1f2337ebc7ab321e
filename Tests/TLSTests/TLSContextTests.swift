import Foundation
import TLS
import TestSupport
import Testing

struct TLSContextTests {
    private let pair: TestCertificate

    init() throws { pair = try TestCertificate.shared.get() }

    /// The part that is wrong; nil where nothing is.
    private func fault(_ certificate: [UInt8], _ key: [UInt8], now: Int64? = nil) -> TLSFault.Kind? {
        do throws(TLSFault) {
            let now = now ?? Int64(Date().timeIntervalSince1970)
            _ = try TLSContext(certificate: certificate, key: key, now: now)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func `a certificate with its key can be used, also in one file`() {
        #expect(fault(pair.certificate, pair.key) == nil)
        let both = pair.certificate + pair.key
        #expect(fault(both, both) == nil)
    }

    @Test func `a text that is no certificate is refused`() {
        let texts = [[], Array("no certificate".utf8), pair.key, Array(pair.certificate.dropLast(100))]
        for text in texts { #expect(fault(text, pair.key) == .certificate) }
        #expect(fault(pair.certificate.map { $0 == 0x42 ? 0x43 : $0 }, pair.key) == .certificate)
    }

    @Test func `a chain that is broken off is refused`() {
        #expect(fault(pair.certificate + pair.certificate.dropLast(100), pair.key) == .certificate)
    }

    @Test func `a text that is no key is refused`() {
        let texts = [[], Array("no key".utf8), pair.certificate, Array(pair.key.dropLast(60))]
        for text in texts { #expect(fault(pair.certificate, text) == .key) }
    }

    @Test func `a key with a password is refused, and nobody is asked for it`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("key", Data(pair.key))
        let locked = directory.file("locked")
        #expect(
            try ChildProcess.run(
                "openssl", "pkcs8", "-topk8", "-in", directory.file("key"), "-passout", "pass:secret", "-out", locked)
                == 0)
        #expect(fault(pair.certificate, try Array(Data(contentsOf: URL(filePath: locked)))) == .key)
    }

    @Test func `the key of another certificate is refused, with OpenSSL's reason`() throws {
        let other = try TestCertificate()
        let now = Int64(Date().timeIntervalSince1970)
        let error = #expect(throws: TLSFault.self) {
            try TLSContext(certificate: pair.certificate, key: other.key, now: now)
        }
        #expect(error?.kind == .pair)
        #expect(error?.description == "the key is not that of the certificate (key values mismatch)")
    }

    @Test func `a key that is too short is refused`() throws {
        let weak = try TestCertificate(rsaBits: 1024)
        #expect(fault(weak.certificate, weak.key) == .certificate)
    }

    @Test func `a certificate is good until it expires`() throws {
        let end = try pair.context().notAfter
        let twoDays = Int64(Date().timeIntervalSince1970) + 2 * 86400
        #expect(abs(end - twoDays) < 3600)
        #expect(fault(pair.certificate, pair.key, now: end - 1) == nil)
        #expect(fault(pair.certificate, pair.key, now: end) == .expired)
        #expect(fault(pair.certificate, pair.key, now: end + 1) == .expired)
    }
}
