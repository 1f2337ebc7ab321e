/// Judges where deliveries may go, by the address that is connected to. The policy is asked after the name was
/// resolved, so that a name of an internal address is refused, and so is an unusual spelling of one.
///
/// An IPv4 address embedded in an IPv6 one is judged as well, whatever the IPv6 one is.
public struct AddressPolicy: Sendable {
    /// An address and port that this server listens on; `0.0.0.0` and `::` mean all addresses of the machine.
    public struct Listener: Sendable, Equatable {
        let address: IPAddress
        let port: UInt16

        /// Makes a listener on `port` of `address`.
        public init(address: IPAddress, port: UInt16) {
            self.address = address
            self.port = port
        }
    }

    /// Cloud metadata services outside the link-local range.
    private static let metadata: Set<IPAddress> = [
        .v4(0x6464_64C8),  // 100.100.100.200, Alibaba
        .v4(0xA83F_8110),  // 168.63.129.16, Azure
        .v4(0xC000_00C0),  // 192.0.0.192, Oracle
        .v6(high: 0xFD00_0EC2_0000_0000, low: 0x254),  // fd00:ec2::254, AWS
        .v6(high: 0xFD00_0EC2_0000_0000, low: 0x23),  // fd00:ec2::23, AWS's credentials of pods
        .v6(high: 0xFD20_00CE_0000_0000, low: 0x254),  // fd20:ce::254, Google
        .v6(high: 0xFD00_0042_0000_0000, low: 0x42),  // fd00:42::42, Scaleway
    ]

    private let allow: [AddressRule]
    private let deny: [AddressRule]
    private let listeners: [Listener]
    private let isLocal: @Sendable (IPAddress) -> Bool

    /// - Parameters:
    ///   - allow: where there are any, only a connection that one of them matches is allowed.
    ///   - deny: a connection that one of them matches is refused, even if a rule allows it.
    ///   - listeners: the server's own listeners.
    ///   - isLocal: whether an address is one of this machine's. Asked only where a listener is on all of them, and
    ///     not for loopback addresses, which are.
    public init(
        allow: [AddressRule] = [], deny: [AddressRule] = [], listeners: [Listener] = [],
        isLocal: @escaping @Sendable (IPAddress) -> Bool = { _ in false }
    ) {
        self.allow = allow
        self.deny = deny
        self.listeners = listeners
        self.isLocal = isLocal
    }

    /// Returns why a connection to `port` of `address` is refused; nil where it is allowed.
    ///
    /// - Parameter host: the host of the URL, for rules about names.
    public func refusal(of address: IPAddress, port: UInt16, host: String) -> AddressRefusal? {
        let inner = address.embedded.map(IPAddress.v4)
        for form in [address] + inner {
            if let refusal = Self.always(form) { return refusal }
            if isOwn(form, port: port) { return .ownListener }
        }
        if deny.contains(where: { rule in
            rule.matches(host: host) || rule.matches(address: address) || inner.contains(where: rule.matches(address:))
        }) {
            return .denied
        }
        if allow.isEmpty || allow.contains(where: { $0.matches(host: host) }) { return nil }
        // An address that embeds IPv4 is allowed by its IPv4 addresses alone: otherwise a rule for some IPv6
        // network would allow all of IPv4.
        let judged = inner.isEmpty ? [address] : inner
        let passes = judged.allSatisfy { form in allow.contains { $0.matches(address: form) } }
        return passes ? nil : .notAllowed
    }

    /// Returns the refusal of an address that is refused whatever the rules are.
    private static func always(_ address: IPAddress) -> AddressRefusal? {
        if metadata.contains(address) { return .metadata }
        switch address {
        case .v4(let bits):
            if bits >> 16 == 0xA9FE { return .linkLocal }
            if bits >> 28 == 0xE { return .multicast }
            if bits >> 24 == 0 { return .unspecified }
            if bits == .max { return .broadcast }
        case .v6(let high, let low):
            if high >> 54 == 0xFE80 >> 6 { return .linkLocal }
            if high >> 56 == 0xFF { return .multicast }
            if high == 0 && low == 0 { return .unspecified }
        }
        return nil
    }

    private func isOwn(_ address: IPAddress, port: UInt16) -> Bool {
        listeners.contains { listener in
            guard listener.port == port else { return false }
            return listener.address == address
                || listener.address.isWildcard && (address.isLoopback || isLocal(address))
        }
    }
}

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

extension IPAddress {
    /// Whether a listener on this address is on all addresses: `::` also on those of IPv4, where the system is set so.
    fileprivate var isWildcard: Bool { self == .v4(0) || self == .v6(high: 0, low: 0) }

    /// Whether the address is in 127.0.0.0/8, or ::1.
    fileprivate var isLoopback: Bool {
        switch self {
        case .v4(let address): address >> 24 == 127
        case .v6(let high, let low): high == 0 && low == 1
        }
    }
}
