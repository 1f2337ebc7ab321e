import Logging
import Platform

/// Replaces the certificate of the TLS listeners when its files change. Used on the main thread alone.
final class CertificateReload {
    /// Nanoseconds between two looks at the files.
    static let pause: Int64 = 60_000_000_000

    private let running: Published<TLSIdentity?>
    private let replace: (TLSIdentity) -> Void
    private let logger: Logger
    /// The newest contents that could not be used, which are logged once.
    private var refused: TLSFiles.Contents?

    /// - Parameters:
    ///   - running: the identity in force.
    ///   - replace: makes new connections use another one.
    init(_ running: Published<TLSIdentity?>, _ logger: Logger, replace: @escaping (TLSIdentity) -> Void) {
        self.running = running
        self.logger = logger
        self.replace = replace
    }

    /// Reads the files, by content, so that a link that leads elsewhere is noticed too. Files that can't be used change
    /// nothing.
    func look() {
        guard let current = running.value else { return }
        let contents = current.files.read()
        guard contents != current.contents else {
            refused = nil
            return
        }
        guard contents != refused else { return }
        do throws(Failure) {
            install(try TLSIdentity(current.files, contents, replacing: current))
        } catch {
            refused = contents
            logger.error(
                "certificate and key have changed and can't be used; the old ones stay in force",
                metadata: ["reason": "\(error.line)"])
        }
    }

    /// Makes new connections use `next`, unless it is in force already.
    func install(_ next: TLSIdentity) {
        guard next.contents != running.value?.contents else { return }
        refused = nil
        running.publish(next)
        replace(next)
        logger.notice(
            "the certificate was replaced; new connections get it", metadata: ["expires": "\(next.expiryText)"])
    }
}
