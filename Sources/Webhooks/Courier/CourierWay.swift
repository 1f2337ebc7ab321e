/// The way of a courier's exchanges: straight, or by a proxy.
struct CourierWay {
    private let proxy: HostPort?
    /// Whether the proxy is given addresses, not names.
    private let resolvesHere: Bool
    private let judge: @Sendable (_ host: String, _ address: CourierAddress) -> String?

    init(proxy: String?, judge: @escaping @Sendable (_ host: String, _ address: CourierAddress) -> String?) {
        self.proxy = proxy.flatMap { HostPort($0) }
        resolvesHere = proxy.map { $0.hasPrefix("socks5://") } ?? true
        self.judge = judge
    }

    /// The hosts whose addresses libcurl needs for an exchange with `url`; and why there may be none.
    ///
    /// Without a proxy each address is judged when it is connected to. A proxy alone knows the address behind a name, but
    /// an address in the URL is refused here.
    func hosts(of url: String) -> (hosts: [HostPort], refusal: String?) {
        // libcurl refuses what it can't read.
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
