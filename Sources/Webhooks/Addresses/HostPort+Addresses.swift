import Curl

extension HostPort {
    /// The host as an address; nil where it is a name.
    var literal: IPAddress? {
        IPAddress(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host)
    }

    /// Whether the host's addresses have to be looked up. libcurl knows those of `localhost` without a lookup.
    var isLookedUp: Bool { literal == nil && host != "localhost" && !host.hasSuffix(".localhost") }

    /// Returns the line that gives libcurl the host's addresses (CURLOPT_RESOLVE), for as long as it would keep
    /// addresses that it found itself.
    func resolution(_ addresses: [[UInt8]]) -> String {
        let texts = addresses.compactMap { IPAddress(bytes: $0) }.map { address in
            if case .v6 = address { "[\(address)]" } else { "\(address)" }
        }
        return "+\(host):\(port):\(texts.joined(separator: ","))"
    }
}
