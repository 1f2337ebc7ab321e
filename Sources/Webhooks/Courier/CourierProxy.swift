import Curl

/// The proxy of a courier's transfers, if it has one, and what it means for the lookup of hosts.
struct CourierProxy {
    private let proxy: HostPort?
    /// Whether the proxy is given addresses, not names.
    private let resolvesHere: Bool
    private let judge: @Sendable (_ host: String, _ address: CourierAddress) -> String?

    /// - Parameter url: the proxy's URL; nil for none.
    init(_ url: String?, judge: @escaping @Sendable (_ host: String, _ address: CourierAddress) -> String?) {
        proxy = url.flatMap { HostPort($0) }
        resolvesHere = url.map { $0.hasPrefix("socks5://") } ?? true
        self.judge = judge
    }

    /// Returns the hosts whose addresses libcurl needs for a transfer to `url`, or why the transfer is refused.
    ///
    /// Without a proxy each address is judged when it is connected to. With one, only an address that is in the URL
    /// is judged, here: the proxy alone knows where a name leads.
    func hosts(of url: String) -> (hosts: [HostPort], refusal: String?) {
        // libcurl itself refuses a URL that it can't read.
        guard let target = HostPort(url) else { return ([], nil) }
        guard let proxy else { return ([target], nil) }
        if let literal = target.literal,
            let refusal = judge(target.host, CourierAddress(bytes: literal.bytes, port: target.port))
        {
            return ([], refusal)
        }
        return (resolvesHere ? [proxy, target] : [proxy], nil)
    }
}

extension HostPort {
    /// The host as an address, with a final dot or without; nil where it is a name.
    var literal: IPAddress? {
        IPAddress(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : HostName.normalised(host))
    }

    /// Whether the host's addresses have to be looked up. libcurl knows those of `localhost` without a lookup.
    var isLookedUp: Bool {
        (literal == nil || host.hasSuffix(".")) && host != "localhost" && !host.hasSuffix(".localhost")
    }

    /// Returns the line that gives libcurl the host's addresses (CURLOPT_RESOLVE), for as long as it would keep
    /// addresses that it found itself.
    func resolution(_ addresses: [[UInt8]]) -> String {
        let texts = addresses.compactMap { IPAddress(bytes: $0) }.map { address in
            if case .v6 = address { "[\(address)]" } else { "\(address)" }
        }
        return "+\(host):\(port):\(texts.joined(separator: ","))"
    }
}
