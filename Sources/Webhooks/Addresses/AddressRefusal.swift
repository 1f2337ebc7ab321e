/// The reason why a connection is not made.
public enum AddressRefusal: String, Sendable, CaseIterable {
    /// 169.254.0.0/16 or fe80::/10, where clouds also keep their instances' credentials.
    case linkLocal = "link-local"
    /// 224.0.0.0/4 or ff00::/8.
    case multicast
    /// 0.0.0.0/8 or ::, which lead to this machine.
    case unspecified
    /// 255.255.255.255.
    case broadcast
    /// An address where a cloud serves its instances' credentials.
    case metadata
    /// One of this server's own listeners.
    case ownListener = "own-listener"
    /// A deny rule matches.
    case denied
    /// There are allow rules and none matches.
    case notAllowed = "not-allowed"
}
