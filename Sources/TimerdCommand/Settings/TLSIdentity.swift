import FoundationEssentials
import Platform
import TLS
import WireJSON

/// The files of `--tls-certificate` and `--tls-key`.
struct TLSFiles: Sendable, Equatable {
    /// The contents of both files at one time; nil for a file that can't be read.
    struct Contents: Sendable, Equatable {
        let certificate: [UInt8]?
        let key: [UInt8]?
    }

    /// The most bytes of a file.
    private static let limit = 1 << 20

    let certificate: String
    let key: String

    /// Reads both files. A file over the limit is cut there, and can't be used then.
    func read() -> Contents {
        Contents(
            certificate: FileBytes.read(certificate, limit: Self.limit), key: FileBytes.read(key, limit: Self.limit))
    }
}

/// A certificate with its key, as their files had them.
struct TLSIdentity: Sendable {
    let files: TLSFiles
    let contents: TLSFiles.Contents
    let context: TLSContext

    /// Makes an identity of what the files hold.
    ///
    /// - Parameter previous: the identity that this one replaces; clients go on with its sessions.
    /// - Throws: `unusable`, which names the file, where the two do not fit, or the certificate has expired. No error shows
    ///   a file's content.
    init(_ files: TLSFiles, _ contents: TLSFiles.Contents, replacing previous: TLSIdentity? = nil) throws(Failure) {
        func bytes(_ bytes: [UInt8]?, of path: String, _ setting: Setting) throws(Failure) -> [UInt8] {
            guard let bytes else {
                throw Failure(.unusable, "--\(setting.flag) \(path): the file can't be read or is no regular file")
            }
            return bytes
        }
        let certificate = try bytes(contents.certificate, of: files.certificate, .tlsCertificate)
        let key = try bytes(contents.key, of: files.key, .tlsKey)
        do throws(TLSFault) {
            context = try TLSContext(
                certificate: certificate, key: key, replacing: previous?.context,
                now: Clocks.realtime() / 1_000_000_000)
        } catch {
            let file =
                switch error.kind {
                case .key, .pair: "--\(Setting.tlsKey.flag) \(files.key)"
                case .certificate, .expired, .openSSL: "--\(Setting.tlsCertificate.flag) \(files.certificate)"
                }
            throw Failure(.unusable, "\(file): \(error)")
        }
        self.files = files
        self.contents = contents
    }

    /// Reads the identity that the settings name; nil where no listener has TLS.
    ///
    /// - Parameters:
    ///   - missing: the failure for a listener with TLS that has no certificate; nil where no listener has TLS.
    ///   - running: the identity in force. It stays as it is while the files hold the same: a certificate that has expired
    ///     since must not keep other settings from being read.
    /// - Throws: where the settings do not go together, or the files can't be used.
    static func read(
        _ settings: SettingReader, missing: Failure?, running: TLSIdentity?
    ) throws(Failure) -> TLSIdentity? {
        let certificate = try settings.all(.tlsCertificate).first
        let key = try settings.all(.tlsKey).first
        guard let certificate, let key else {
            if let given = certificate ?? key { throw given.refusal("--tls-certificate and --tls-key go together") }
            if let missing { throw missing }
            return nil
        }
        // A server that was given a certificate must not serve without TLS by mistake.
        guard missing != nil else {
            throw certificate.refusal("no listener has TLS; --listen https://127.0.0.1:8443 makes one")
        }
        let files = TLSFiles(certificate: try certificate.nonEmpty(), key: try key.nonEmpty())
        let contents = files.read()
        if let running, running.files == files, running.contents == contents { return running }
        return try TLSIdentity(files, contents, replacing: running)
    }

    /// The public key as `ServerTrust.key` has it.
    var pin: String { "sha256//" + Data(context.keyDigest).base64EncodedString() }

    /// The instant at which the certificate expires, as RFC 3339.
    var expiryText: String { RFC3339.text(context.notAfter * 1000) }
}
