import CCurl

/// Where a URL leads, as libcurl's own reader finds it, so that nobody is judged by another name than is connected to.
@safe struct HostPort {
    /// In lower case; an IPv6 address in brackets.
    let host: String
    let port: UInt16

    /// Nil where libcurl finds no host.
    init?(_ url: String) {
        guard let parts = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(parts) }
        let flags = UInt32(CURLU_PATH_AS_IS | CURLU_NON_SUPPORT_SCHEME)
        guard unsafe curl_url_set(parts, CURLUPART_URL, url, flags) == CURLUE_OK,
            let host = unsafe Self.part(parts, CURLUPART_HOST, 0),
            let port = unsafe Self.part(parts, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap({ UInt16($0) })
        else { return nil }
        self.host = host.lowercased()
        self.port = port
    }

    private static func part(_ parts: OpaquePointer, _ part: CURLUPart, _ flags: UInt32) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(parts, part, &text, flags) == CURLUE_OK, let found = unsafe text else { return nil }
        defer { unsafe curl_free(found) }
        return unsafe String(cString: found)
    }

    /// The address that the host is, where it is no name.
    var literal: IPAddress? {
        IPAddress(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host)
    }

    /// Whether the host's addresses have to be looked up. libcurl knows those of `localhost` without.
    var isLookedUp: Bool { literal == nil && host != "localhost" && !host.hasSuffix(".localhost") }

    /// Tells libcurl the addresses of the host (CURLOPT_RESOLVE), for as long as it would remember those it found itself.
    func resolution(_ addresses: [[UInt8]]) -> String {
        let texts = addresses.compactMap { IPAddress(bytes: $0) }.map { address in
            if case .v6 = address { "[\(address)]" } else { "\(address)" }
        }
        return "+\(host):\(port):\(texts.joined(separator: ","))"
    }
}
