import CTLS

/// A server's certificate and key, ready for handshakes. May be used on any thread; sessions outlive it.
///
/// The sessions have TLS 1.3, or 1.2 with forward secrecy and authenticated encryption; no renegotiation, no compression
/// and no early data. Of the protocols that a client offers (ALPN) `http/1.1` is chosen; offers without it fail the
/// handshake.
@safe public final class TLSContext: @unchecked Sendable {  // unchecked: OpenSSL counts and locks what sessions share
    let pointer: OpaquePointer
    let tickets: TLSTickets
    /// The instant at which the server's certificate expires, in seconds since 1970.
    public let notAfter: Int64
    /// The SHA-256 of the certificate's public key in DER (SubjectPublicKeyInfo), 32 bytes.
    public let keyDigest: [UInt8]

    /// Reads certificate and key.
    ///
    /// - Parameters:
    ///   - certificate: PEM: the server's certificate, then those that lead to its root.
    ///   - key: PEM: the certificate's private key, without a password.
    ///   - previous: the context that this one replaces; clients go on with its sessions.
    ///   - now: the calendar's seconds since 1970; a certificate that has expired by then is refused.
    /// - Throws: `TLSFault`, with the part that is wrong.
    public init(
        certificate: [UInt8], key: [UInt8], replacing previous: TLSContext? = nil, now: Int64
    ) throws(TLSFault) {
        guard let tickets = previous?.tickets ?? TLSTickets() else { throw TLSFault(.openSSL) }
        var fault = ctls_fault()
        let made = unsafe Self.withPEM(certificate) { certificate in
            unsafe Self.withPEM(key) { key in
                unsafe ctls_context_make(certificate, key, tickets.pointer, now, &fault)
            }
        }
        guard let made = unsafe made else { throw TLSFault(fault) }
        unsafe pointer = made
        self.tickets = tickets
        notAfter = unsafe ctls_context_expiry(made)
        var digest = [UInt8](repeating: 0, count: 32)
        let isKnown = unsafe digest.withUnsafeMutableBufferPointer { buffer in
            unsafe ctls_context_key_digest(made, buffer.baseAddress)
        }
        guard isKnown else {
            unsafe ctls_context_free(made)
            throw TLSFault(.openSSL)
        }
        keyDigest = digest
    }

    deinit { unsafe ctls_context_free(pointer) }

    private static func withPEM<Result>(_ text: [UInt8], _ body: (ctls_pem) -> Result) -> Result {
        unsafe text.withUnsafeBytes { bytes in
            unsafe body(ctls_pem(bytes: bytes.baseAddress, count: bytes.count))
        }
    }
}
