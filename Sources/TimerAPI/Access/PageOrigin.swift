/// Compares the `Origin` of a page with the `Host` of the page's request.
enum PageOrigin {
    /// Whether `origin` (`https://timers.example`) has the host and the port of `authority`, whatever their case. The
    /// default port of the origin's scheme is left out on both sides: browsers leave it out, some proxies add it.
    /// `null`, and anything else without a scheme, has no host.
    static func isSame(_ origin: ArraySlice<UInt8>, as authority: ArraySlice<UInt8>) -> Bool {
        guard let colon = origin.firstIndex(of: UInt8(ascii: ":")), origin[colon...].starts(with: "://".utf8) else {
            return false
        }
        let scheme = origin[..<colon].map(lowercase)
        let port = defaultPorts.first { $0.scheme.utf8.elementsEqual(scheme) }?.suffix
        let host = withoutPort(origin[(colon + 3)...], port)
        return !host.isEmpty && host.map(lowercase) == withoutPort(authority, port).map(lowercase)
    }

    private static let defaultPorts = [(scheme: "http", suffix: ":80"), (scheme: "https", suffix: ":443")]

    /// Returns `authority` without its port where that is empty or the default one.
    private static func withoutPort(_ authority: ArraySlice<UInt8>, _ port: String?) -> ArraySlice<UInt8> {
        for suffix in [port, ":"] {
            guard let suffix, authority.reversed().starts(with: suffix.utf8.reversed()) else { continue }
            return authority.dropLast(suffix.utf8.count)
        }
        return authority
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
