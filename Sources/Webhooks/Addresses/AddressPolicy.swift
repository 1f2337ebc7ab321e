/// Judges where deliveries may go, by the address that is connected to: asked after the name was resolved, so that
/// neither names that resolve to an inner address nor unusual spellings of one get by.
///
/// An IPv4 address inside an IPv6 one is judged as itself, whatever the outside is.
public struct AddressPolicy: Sendable {
    /// An address and port that this server listens on; `0.0.0.0` and `::` mean all addresses of the machine.
    public struct Listener: Sendable, Equatable {
        let address: IPAddress
        let port: UInt16

        /// A listener on `port` of `address`.
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
    ///   - allow: where there are any, only what one of them matches passes.
    ///   - deny: what one of them matches never passes, allowed or not.
    ///   - listeners: the server's own.
    ///   - isLocal: whether an address is one of this machine's, asked only where a listener is on all of them;
    ///     loopback addresses are and are not asked for.
    public init(
        allow: [AddressRule] = [], deny: [AddressRule] = [], listeners: [Listener] = [],
        isLocal: @escaping @Sendable (IPAddress) -> Bool = { _ in false }
    ) {
        self.allow = allow
        self.deny = deny
        self.listeners = listeners
        self.isLocal = isLocal
    }

    /// Why there may be no connection to `port` of `address`; nil where there may.
    ///
    /// - Parameter host: the host of the URL, which rules about names are judged by.
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
        // What carries IPv4 passes as that alone, or a rule for some IPv6 network would open all of IPv4.
        let judged = inner.isEmpty ? [address] : inner
        let passes = judged.allSatisfy { form in allow.contains { $0.matches(address: form) } }
        return passes ? nil : .notAllowed
    }

    /// What is refused whatever the rules are.
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

extension IPAddress {
    /// Whether a listener there listens on all addresses: `::` on those of IPv4 too, where the system has it so.
    fileprivate var isWildcard: Bool { self == .v4(0) || self == .v6(high: 0, low: 0) }

    /// 127.0.0.0/8 or ::1.
    fileprivate var isLoopback: Bool {
        switch self {
        case .v4(let address): address >> 24 == 127
        case .v6(let high, let low): high == 0 && low == 1
        }
    }
}
