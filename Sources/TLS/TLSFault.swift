import CTLS

/// The reason why certificate and key make no `TLSContext`.
public struct TLSFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The part that is wrong.
    public enum Kind: Sendable, Equatable {
        /// The certificate can't be used, or one of its chain.
        case certificate
        /// The key can't be read: it is no key in PEM, or encrypted.
        case key
        /// The key is that of another certificate.
        case pair
        /// The certificate has expired.
        case expired
        /// OpenSSL could not begin.
        case openSSL
    }

    /// The part that is wrong.
    public let kind: Kind
    /// OpenSSL's words for it, perhaps none.
    public let reason: String

    init(_ kind: Kind, reason: String = "") {
        self.kind = kind
        self.reason = reason
    }

    init(_ fault: ctls_fault) {
        let kind: Kind =
            switch fault.part {
            case CTLS_CHAIN: .certificate
            case CTLS_KEY: .key
            case CTLS_PAIR: .pair
            case CTLS_EXPIRED: .expired
            default: .openSSL
            }
        let reason = unsafe withUnsafeBytes(of: fault.reason) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        self.init(kind, reason: reason)
    }

    /// What is wrong, in the middle of a sentence: `the key is not that of the certificate (key values mismatch)`.
    public var description: String {
        let text =
            switch kind {
            case .certificate: "the certificate is no chain of certificates in PEM that can be used"
            case .key: "the key is no private key in PEM without a password"
            case .pair: "the key is not that of the certificate"
            case .expired: "the certificate has expired"
            case .openSSL: "OpenSSL could not begin"
            }
        return reason.isEmpty ? text : "\(text) (\(reason))"
    }
}
