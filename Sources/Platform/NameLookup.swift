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

/// The addresses of this machine.
public enum LocalAddress {
    /// Whether `bytes`, 4 or 16 in network order, are an address of this machine: whether a socket can be bound to it.
    public static func exists(_ bytes: [UInt8]) -> Bool {
        bytes.count == 4 ? binds(v4(bytes), AF_INET) : bytes.count == 16 && binds(v6(bytes), AF_INET6)
    }

    private static func v4(_ bytes: [UInt8]) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        unsafe withUnsafeMutableBytes(of: &address.sin_addr) { unsafe $0.copyBytes(from: bytes) }
        return address
    }

    private static func v6(_ bytes: [UInt8]) -> sockaddr_in6 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
        return address
    }

    private static func binds<Address>(_ address: Address, _ family: Int32) -> Bool {
        let socket = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        var address = address
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, socklen_t(MemoryLayout<Address>.size)) == 0
            }
        }
    }
}
