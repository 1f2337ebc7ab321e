import Glibc

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
