/// The reason for which a server's certificate is not trusted.
public enum CertificateFault: Sendable, Equatable {
    /// The certificate leads to no authority that is trusted: an unknown one, or the certificate is its own.
    case issuer
    /// The certificate, or one of its chain, has expired.
    case expired
    /// The certificate, or one of its chain, is not valid yet.
    case notYetValid
    /// Another reason, which libcurl's message has; a certificate for other names is one of them.
    case other

    /// Reads a code of OpenSSL's verification (X509_STORE_CTX_get_error(3)); the numbers are part of its ABI.
    init(_ code: Int) {
        self =
            switch code {
            case 2, 18, 19, 20, 21: .issuer
            case 9: .notYetValid
            case 10: .expired
            default: .other
            }
    }
}
