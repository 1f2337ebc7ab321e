import Foundation
package import TLS

/// A certificate for `localhost` with its key, made by openssl(1), which nobody trusts.
package struct TestCertificate: Sendable {
    package let certificate: [UInt8]
    package let key: [UInt8]

    /// openssl failed.
    package struct NotMade: Error {}

    /// Makes a certificate that expires after `days`; the key is an elliptic curve's, or of RSA with `rsaBits`.
    package init(days: Int = 2, rsaBits: Int? = nil) throws {
        let directory = try TemporaryDirectory()
        let (file, keyFile) = (directory.file("certificate"), directory.file("key"))
        let kind = rsaBits.map { ["rsa:\($0)"] } ?? ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        let words =
            ["openssl", "req", "-x509", "-newkey"] + kind + ["-nodes", "-days", "\(days)", "-subj", "/CN=localhost"]
            + ["-keyout", keyFile, "-out", file]
        guard try ChildProcess(words).wait() == 0 else { throw NotMade() }
        certificate = try Array(Data(contentsOf: URL(filePath: file)))
        key = try Array(Data(contentsOf: URL(filePath: keyFile)))
    }

    /// A certificate that tests share.
    package static let shared = Result { try TestCertificate() }

    /// A context with the certificate, at `now` seconds since 1970.
    package func context(replacing previous: TLSContext? = nil, now: Int64? = nil) throws -> TLSContext {
        let now = now ?? Int64(Date().timeIntervalSince1970)
        return try TLSContext(certificate: certificate, key: key, replacing: previous, now: now)
    }
}
