import CCurl

/// The host and port of a URL, as libcurl's own parser reads it, so that the name that is judged is the one that
/// is connected to.
@safe public struct HostPort {
    /// The host in lower case; an IPv6 address in brackets.
    public let host: String
    /// The port, the scheme's own where the URL names none.
    public let port: UInt16

    /// Reads a URL; nil where libcurl finds no host, or no port.
    public init?(_ url: String) {
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
}
