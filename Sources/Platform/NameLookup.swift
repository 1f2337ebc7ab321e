import Glibc

/// The system's lookup of host names: `/etc/hosts`, DNS, or whatever `nsswitch.conf` says.
public enum NameLookup {
    /// The most addresses that are returned for a name.
    private static let mostAddresses = 16

    /// The addresses of `name`, 4 or 16 bytes each in network order, the one to try first in front; empty where
    /// there are none. Blocks until the resolver has an answer or has tried the last name server in vain.
    public static func addresses(of name: String) -> [[UInt8]] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var found: [[UInt8]] = []
        var next = unsafe list
        while let entry = unsafe next, found.count < mostAddresses {
            if let bytes = unsafe bytes(entry.pointee), !found.contains(bytes) { found.append(bytes) }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }

    /// An address of 4 or 16 bytes as text.
    public static func text(of address: [UInt8]) -> String? {
        let family = address.count == 4 ? AF_INET : AF_INET6
        guard address.count == 4 || address.count == 16 else { return nil }
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            guard unsafe inet_ntop(family, address, text.baseAddress, socklen_t(text.count)) != nil else { return nil }
            return unsafe text.baseAddress.map { text in unsafe String(cString: text) }
        }
    }

    private static func bytes(_ entry: addrinfo) -> [UInt8]? {
        switch unsafe entry.ai_family {
        case AF_INET:
            unsafe entry.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { name in
                unsafe withUnsafeBytes(of: &name.pointee.sin_addr) { unsafe Array($0) }
            }
        case AF_INET6:
            unsafe entry.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { name in
                unsafe withUnsafeBytes(of: &name.pointee.sin6_addr) { unsafe Array($0) }
            }
        default: nil
        }
    }
}
