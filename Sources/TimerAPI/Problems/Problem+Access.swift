/// The refusals that name what a browser or a proxy has sent.
extension Problem {
    /// Returns the refusal of a request whose page has another origin than the host that the request is for.
    ///
    /// - Parameter authority: the host that the request is for; nil if it names none.
    static func crossOrigin(_ origin: ArraySlice<UInt8>, authority: ArraySlice<UInt8>?) -> Problem {
        let host = authority.map { "`Host` is `\(shown($0))`" } ?? "there is no `Host`"
        return Problem(
            .crossOrigin,
            "`Origin` is `\(shown(origin))`, and \(host): they must be the same; a proxy must pass `Host` on as it came"
        )
    }

    /// Returns the refusal of a request in which a header that a browser sends once is given more than once, so that
    /// the request's page is not certain.
    ///
    /// - Parameter name: the name of the header.
    static func crossOrigin(givenTwice name: StaticString) -> Problem {
        Problem(
            .crossOrigin, "`\(name)` is given twice, and a browser sends it once: the request's page is not certain")
    }

    /// Returns the refusal of a request that comes from another site's page, by what the browser says of it.
    static func crossSite(_ site: ArraySlice<UInt8>) -> Problem {
        Problem(.crossOrigin, "the request comes from another site's page: `Sec-Fetch-Site` is `\(shown(site))`")
    }

    /// Returns the refusal of a request whose `Host` has a name that it may not have.
    static func misdirected(_ authority: ArraySlice<UInt8>) -> Problem {
        // The detail proposes only a name that the flag takes.
        let name = Gate.host(of: authority).map { String(decoding: $0, as: UTF8.self).lowercased() }
        let proposed = name.flatMap { HostRule($0) == .name($0) && $0.utf8.count <= longestName ? $0 : nil } ?? "NAME"
        return Problem(
            .misdirected,
            "`Host` is `\(shown(authority))`: neither an address, nor a name without a dot, nor an allowed one; "
                + "`--allow-host \(proposed)` allows it")
    }

    /// Returns a header's value, escaped and bounded, for a detail or a line of the log.
    static func shown(_ value: ArraySlice<UInt8>) -> String {
        let text = Target.visible(value.prefix(longestEcho))
        return text.utf8.count > longestEcho || value.count > longestEcho ? text.prefix(longestEcho) + "…" : text
    }

    /// The most characters of a header that are shown: two of them fit a detail with the words around them.
    private static let longestEcho = 128
    /// The most characters of a name that DNS takes.
    private static let longestName = 253
}
