import Glibc

/// Listening sockets that another process opened and passed on.
extension ListeningSocket {
    /// Takes over the socket `descriptor`. A TCP socket is copied once for each of `loops`, all of which accept
    /// from it; a Unix socket is for one loop alone.
    ///
    /// Throws: `ListenError` that names the descriptor and what is wrong with it; the socket then stays open.
    static func adopt(_ descriptor: Int32, index: Int, loops: Int) throws(ListenError) -> [ListeningSocket] {
        let name = "the passed socket \(descriptor)"
        guard let kind = option(SO_TYPE, of: descriptor) else {
            throw ListenError("\(name): \(errno == ENOTSOCK ? "no socket" : unsafe String(cString: strerror(errno)))")
        }
        guard kind == Int32(SOCK_STREAM.rawValue) else { throw ListenError("\(name): no stream socket") }
        guard option(SO_ACCEPTCONN, of: descriptor) == 1 else { throw ListenError("\(name): it does not listen") }
        guard let bound = bound(descriptor) else {
            throw ListenError("\(name): neither a TCP nor a named Unix socket")
        }
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else { throw ListenError("\(name): \(unsafe String(cString: strerror(errno)))") }
        var sockets = [ListeningSocket(descriptor: descriptor, index: index, bound: bound, file: nil)]
        guard case .tcp = bound.address else { return sockets }
        for _ in 1..<max(1, loops) {
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else {
                let reason = errno
                for socket in sockets.dropFirst() { close(socket.descriptor) }
                throw ListenError("\(name): \(unsafe String(cString: strerror(reason)))")
            }
            sockets.append(ListeningSocket(descriptor: copy, index: index, bound: bound, file: nil))
        }
        return sockets
    }

    /// The value of a socket option; nil, with errno set, where the kernel has none.
    private static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, Int32(SOL_SOCKET), option, &value, &length) == 0 ? value : nil
    }

    /// The address at which the socket listens; nil for one that is neither TCP nor a named Unix socket.
    private static func bound(_ descriptor: Int32) -> BoundAddress? {
        if let address = SocketAddress(boundTo: descriptor) {
            return BoundAddress(address: .tcp(host: address.host, port: address.port))
        }
        guard option(SO_DOMAIN, of: descriptor) == AF_UNIX else { return nil }
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe getsockname(descriptor, address, &length) == 0
            }
        }
        let count = Int(length) - MemoryLayout<sockaddr_un>.offset(of: \.sun_path)!
        guard isKnown, count > 0 else { return nil }
        let bytes = unsafe withUnsafeBytes(of: &address.sun_path) { unsafe Array($0.prefix(count)) }
        let hasNoFile = bytes[0] == 0
        let name = hasNoFile ? bytes.dropFirst() : bytes.prefix { $0 != 0 }
        let path = (hasNoFile ? "@" : "") + String(decoding: name, as: UTF8.self)
        return BoundAddress(address: .unix(path: path), hasNoFile: hasNoFile)
    }
}
