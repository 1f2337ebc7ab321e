import Glibc

extension IPAddress {
    /// Whether the address is one of this machine's: whether a socket may be bound to it.
    public var isLocal: Bool {
        let family: Int32 =
            switch self {
            case .v4: AF_INET
            case .v6: AF_INET6
            }
        let socket = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        switch self {
        case .v4(let bits):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = bits.bigEndian
            return Self.binds(socket, &address)
        case .v6(let high, let low):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
                unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
                unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return Self.binds(socket, &address)
        }
    }

    private static func binds<Address>(_ socket: Int32, _ address: inout Address) -> Bool {
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, socklen_t(MemoryLayout<Address>.size)) == 0
            }
        }
    }
}
