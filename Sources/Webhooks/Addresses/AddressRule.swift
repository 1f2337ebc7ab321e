/// One rule of `--webhook-allow` or `--webhook-deny`: a network, or the end of host names.
public struct AddressRule: Sendable, Equatable {
    private enum Form: Equatable {
        case network(IPAddress, bits: Int)
        case host(String, withItself: Bool)
    }

    private let form: Form

    /// Reads a rule:
    /// - `10.0.0.0/8`, `fd00::/8`: the addresses of a network; an address alone is a network of one;
    /// - `example.com`: that host and all below it;
    /// - `.internal.example`: all hosts below it, not itself.
    ///
    /// - Parameter option: what an error names.
    public init(_ text: String, option: String) throws(WebhookError) {
        func error(_ message: String) -> WebhookError { WebhookError(member: option, message: message) }
        if let slash = text.firstIndex(of: "/") {
            form = try Self.network(text[..<slash], text[text.index(after: slash)...], text, error)
        } else if let address = IPAddress(text) {
            form = try Self.network(address, bits: address.width, text, error)
        } else {
            let isBelow = text.hasPrefix(".")
            let name = HostName.normalised(isBelow ? String(text.dropFirst()) : text)
            guard HostName.isValid(name), name.utf8.count <= 253 else {
                throw error(
                    "`\(text)` is no rule: write a network such as 10.0.0.0/8 or fd00::/8, or the end of host names such"
                        + " as example.com or .internal.example")
            }
            guard !Self.looksNumeric(name) else {
                throw error("`\(text)` is no host name: write an address with all its parts, such as 127.0.0.1")
            }
            form = .host(name, withItself: !isBelow)
        }
    }

    /// Whether the rule is about an address of this network.
    public func matches(address: IPAddress) -> Bool {
        guard case .network(let network, let bits) = form, network.width == address.width else { return false }
        return address.masked(bits) == network
    }

    /// Whether the rule is about this host of a URL, in any case and with or without a final dot.
    public func matches(host: String) -> Bool {
        guard case .host(let suffix, let withItself) = form else { return false }
        let name = HostName.normalised(host)
        return withItself && name == suffix || name.hasSuffix("." + suffix)
    }

    private static func network(
        _ address: Substring, _ digits: Substring, _ text: String, _ error: (String) -> WebhookError
    ) throws(WebhookError) -> Form {
        guard let address = IPAddress(String(address)) else {
            throw error("`\(text)` is no network: before the slash there must be an IPv4 or IPv6 address")
        }
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let bits = Int(digits), bits <= address.width
        else { throw error("`\(text)` is no network: after the slash there must be 0 to \(address.width)") }
        return try network(address, bits: bits, text, error)
    }

    private static func network(
        _ address: IPAddress, bits: Int, _ text: String, _ error: (String) -> WebhookError
    ) throws(WebhookError) -> Form {
        guard address.masked(bits) == address else {
            throw error("`\(text)` has bits beyond its prefix: write \(address.masked(bits))/\(bits)")
        }
        // An address mapped from IPv4 is judged as IPv4, so such a rule would never match.
        if case .v6(0, let low) = address, bits >= 96, low >> 32 == 0xFFFF {
            throw error("`\(text)` is IPv4: write \(IPAddress.v4(UInt32(truncatingIfNeeded: low)))/\(bits - 96)")
        }
        return .network(address, bits: bits)
    }

    /// Whether resolvers might read the name as an address, as they do `127.1`, `0x7f000001` and `017700000001`.
    private static func looksNumeric(_ name: String) -> Bool {
        guard let last = name.split(separator: ".").last else { return false }
        return last.hasPrefix("0x") || last.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    }
}
