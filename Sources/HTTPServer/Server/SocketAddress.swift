import CMicroHTTPD
import Glibc
import Platform

/// An IPv4 or IPv6 address with its port. The kernel's structures are used in this file only.
package struct SocketAddress: Equatable, Sendable {
    private enum Bytes: Equatable {
        case v4(UInt32)  // in network order, as the kernel has it
        case v6(high: UInt64, low: UInt64, scope: UInt32)
    }

    private let bytes: Bytes
    /// The port, in the machine's byte order.
    let port: UInt16

    /// Makes the address of `host`; nil unless `host` is `localhost` or an IP literal.
    package init?(host: String, port: UInt16) {
        self.port = port
        var v4 = in_addr()
        var v6 = in6_addr()
        if unsafe inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host, &v4) == 1 {
            bytes = .v4(v4.s_addr)
        } else if unsafe inet_pton(AF_INET6, host, &v6) == 1 {
            let halves = unsafe unsafeBitCast(v6, to: (UInt64, UInt64).self)
            bytes = .v6(high: halves.0, low: halves.1, scope: 0)
        } else {
            return nil
        }
    }

    /// Reads an address of the kernel's; nil where `address` is nil or of another family, as that of a Unix
    /// socket's peer. An IPv4 address inside IPv6, as at a socket for both, becomes IPv4.
    init?(_ address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else { return nil }
        switch Int32(unsafe address.pointee.sa_family) {
        case AF_INET:
            let inet = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
            bytes = .v4(inet.sin_addr.s_addr)
            port = UInt16(bigEndian: inet.sin_port)
        case AF_INET6:
            let inet = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
            let halves = unsafe unsafeBitCast(inet.sin6_addr, to: (UInt64, UInt64).self)
            if halves.0 == 0, UInt64(bigEndian: halves.1) >> 32 == 0xffff {
                bytes = .v4(UInt32(truncatingIfNeeded: UInt64(bigEndian: halves.1)).bigEndian)
            } else {
                bytes = .v6(high: halves.0, low: halves.1, scope: inet.sin6_scope_id)
            }
            port = UInt16(bigEndian: inet.sin6_port)
        default: return nil
        }
    }

    /// Takes the next connection that waits at a listening socket: its socket, which does not block, and its peer's
    /// address, nil for a Unix socket's. Returns nil where no connection waits, or no descriptor is left.
    package static func nextConnection(at listener: Int32) -> (socket: Int32, peer: SocketAddress?)? {
        unsafe Accepting.next(listener) { address in unsafe SocketAddress(address) }
    }

    /// Asks the kernel for the address that `descriptor` is bound to; nil where it has none, or one of another
    /// family.
    init?(boundTo descriptor: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let made: SocketAddress? = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe getsockname(descriptor, address, &length) == 0 ? SocketAddress(UnsafePointer(address)) : nil
            }
        }
        guard let made else { return nil }
        self = made
    }

    var isIPv6: Bool {
        if case .v6 = bytes { true } else { false }
    }

    var isLoopback: Bool {
        switch bytes {
        case .v4(let address): UInt32(bigEndian: address) >> 24 == 127
        case .v6(let high, let low, _): high == 0 && UInt64(bigEndian: low) == 1
        }
    }

    /// Whether the address is 0.0.0.0 or `::`, which mean every address.
    var isWildcard: Bool {
        switch bytes {
        case .v4(let address): address == 0
        case .v6(let high, let low, _): high == 0 && low == 0
        }
    }

    /// The key of limits per address: an IPv4 address, or an IPv6 network of 64 bits, as one client has all of it.
    var owner: UInt64 {
        switch bytes {
        case .v4(let address): UInt64(address)
        case .v6(let high, _, _): ~high
        }
    }

    /// The address as text, without port and brackets.
    var host: String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            let size = socklen_t(text.count)
            switch bytes {
            case .v4(var address): unsafe inet_ntop(AF_INET, &address, text.baseAddress, size)
            case .v6(let high, let low, _):
                var halves = (high, low)
                unsafe inet_ntop(AF_INET6, &halves, text.baseAddress, size)
            }
            let length = unsafe text.firstIndex(of: 0) ?? 0
            return String(decoding: unsafe text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// Binds `descriptor` to this address. Returns 0 or the errno.
    func bind(_ descriptor: Int32) -> Int32 {
        unsafe withKernelAddress { address, length in unsafe Glibc.bind(descriptor, address, length) == 0 ? 0 : errno }
    }

    /// Begins to connect a new socket to this address, without waiting for the end; nil where that fails at once.
    package func connect() -> Int32? {
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(kind), 0)
        guard descriptor >= 0 else { return nil }
        let problem = unsafe withKernelAddress { address, length in
            unsafe Glibc.connect(descriptor, address, length) == 0 ? 0 : errno
        }
        if problem == 0 || problem == EINPROGRESS { return descriptor }
        close(descriptor)
        return nil
    }

    /// Calls `body` with the address in the kernel's form.
    func withKernelAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch bytes {
        case .v4(let address):
            var inet = sockaddr_in()
            inet.sin_family = sa_family_t(AF_INET)
            inet.sin_port = port.bigEndian
            inet.sin_addr.s_addr = address
            return unsafe Self.with(&inet, body)
        case .v6(let high, let low, let scope):
            var inet = sockaddr_in6()
            inet.sin6_family = sa_family_t(AF_INET6)
            inet.sin6_port = port.bigEndian
            inet.sin6_scope_id = scope
            inet.sin6_addr = unsafe unsafeBitCast((high, low), to: in6_addr.self)
            return unsafe Self.with(&inet, body)
        }
    }

    private static func with<Address, Result>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        let length = socklen_t(MemoryLayout<Address>.size)
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe body(address, length)
            }
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    /// `127.0.0.1:5000` or `[::1]:5000`.
    package var description: String {
        isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
