/// The servers that a client trusts over TLS. Without TLS it trusts whichever answers.
public enum ServerTrust: Sendable, Equatable {
    /// Servers whose certificate is for the name in their address and leads to an authority of the system's.
    case system
    /// The same with the authorities in a PEM file instead of the system's.
    case authorities(file: String)
    /// The server that has this key, whatever its certificate says. The form of `pin` is that of curl's
    /// `--pinnedpubkey`: `sha256//` and the SHA-256 of the public key in DER, in base64.
    case key(pin: String)
}
