// CMicroHTTPD is imported for SOCK_STREAM too: constants of sockets belong to whichever of the two C modules the
// compiler loads first.
import CMicroHTTPD
import Glibc
import Platform

/// A socket that listens. Its owner has to close it.
package struct ListeningSocket {
    /// The socket's descriptor, which does not block.
    package let descriptor: Int32
    /// The index of the socket's address in the configuration.
    let index: Int
    package let bound: BoundAddress
    /// The identity of a Unix socket's file, so that only this file is removed at the end.
    let file: FileIdentity?

    /// The most connections that wait in the kernel to be accepted.
    private static let backlog: Int32 = 4096

    /// Binds `address` once for each of `loops` (Unix sockets once) and listens.
    ///
    /// Throws: the reason with the address; then nothing stays open.
    package static func open(_ address: ListenAddress, index: Int, loops: Int) throws(ListenError) -> [ListeningSocket]
    {
        try address.check()
        switch address {
        case .unix(let path, let access): return [try openUnix(path, access, index: index)]
        case .tcp(let host, var port, let isSecure):
            // Sockets that share a port would also share it with another server of the same user, so one that does not
            // share it tries the port first.
            if loops > 1, port != 0 { close(try bindTCP(address, sharing: false).descriptor) }
            var sockets: [ListeningSocket] = []
            do throws(ListenError) {
                for _ in 0..<loops {
                    let wanted = ListenAddress.tcp(host: host, port: port, isSecure: isSecure)
                    let socket = try bindTCP(wanted, sharing: loops > 1)
                    port = socket.port
                    let bound = BoundAddress(address: .tcp(host: host, port: port, isSecure: isSecure))
                    sockets.append(
                        ListeningSocket(descriptor: socket.descriptor, index: index, bound: bound, file: nil))
                }
            } catch {
                for socket in sockets { close(socket.descriptor) }
                throw error
            }
            return sockets
        }
    }

    private static func bindTCP(
        _ wanted: ListenAddress, sharing: Bool
    ) throws(ListenError) -> (descriptor: Int32, port: UInt16) {
        let name = wanted.url
        guard let address = wanted.socketAddress else {
            throw ListenError("\(name): the host is neither an IP address nor localhost")
        }
        let descriptor = try make(address.isIPv6 ? AF_INET6 : AF_INET, name)
        func set(_ level: Int, _ option: Int32) {
            var on: Int32 = 1
            unsafe setsockopt(descriptor, Int32(level), option, &on, 4)
        }
        set(Int(SOL_SOCKET), SO_REUSEADDR)
        if sharing { set(Int(SOL_SOCKET), SO_REUSEPORT) }
        if address.isIPv6 { set(IPPROTO_IPV6, IPV6_V6ONLY) }
        var problem = address.bind(descriptor)
        if problem == 0, listen(descriptor, backlog) != 0 { problem = errno }
        guard problem == 0, let bound = SocketAddress(boundTo: descriptor) else {
            close(descriptor)
            throw ListenError("\(name): \(reason(problem))")
        }
        return (descriptor, bound.port)
    }

    /// Binds a Unix socket at `path`, for those who have `access`, and listens.
    ///
    /// - Parameter listen: the call that makes the bound socket listen, with its backlog; 0 where it does.
    /// - Throws: the reason with the address; then no file stays.
    static func openUnix(
        _ path: String, _ access: SocketAccess = SocketAccess(), index: Int,
        listen: (Int32, Int32) -> Int32 = Glibc.listen
    ) throws(ListenError) -> ListeningSocket {
        let name = "unix:\(path)"
        let group = try access.groupID(for: name)
        try removeStale(path, name)
        let descriptor = try make(AF_UNIX, name)
        // No client can connect before the socket listens, and from then on only those who may.
        var problem = unsafe withAddress(path) { address, length in unsafe bind(descriptor, address, length) }
        let file = problem == 0 ? FileIdentity(path, followsLink: false) : nil
        if problem == 0, let group, unsafe lchown(path, uid_t.max, group) != 0 { problem = errno }
        if problem == 0, unsafe chmod(path, access.mode) != 0 { problem = errno }
        if problem == 0, listen(descriptor, backlog) != 0 { problem = errno }
        guard problem == 0 else {
            remove(path, file)
            close(descriptor)
            throw ListenError("\(name): \(reason(problem))")
        }
        return ListeningSocket(
            descriptor: descriptor, index: index, bound: BoundAddress(address: .unix(path: path)), file: file)
    }

    /// Removes a socket file that no server listens on. Throws where one does, or the file is no socket.
    private static func removeStale(_ path: String, _ name: String) throws(ListenError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw ListenError("\(name): the file exists, no socket") }
        let probe = try make(AF_UNIX, name)
        defer { close(probe) }
        let problem = unsafe withAddress(path) { address, length in unsafe connect(probe, address, length) }
        guard problem == ECONNREFUSED else {
            throw ListenError("\(name): \(reason(problem == 0 || problem == EAGAIN ? EADDRINUSE : problem))")
        }
        unsafe unlink(path)
    }

    /// Removes the socket file at `path` if it is still `file`.
    static func remove(_ path: String, _ file: FileIdentity?) {
        if file != nil, FileIdentity(path, followsLink: false) == file { unsafe unlink(path) }
    }

    private static func make(_ family: Int32, _ name: String) throws(ListenError) -> Int32 {
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let descriptor = socket(family, Int32(kind), 0)
        guard descriptor >= 0 else { throw ListenError("\(name): \(reason(errno))") }
        return descriptor
    }

    /// Calls `body` with the address of the socket at `path`. Returns 0 or the errno.
    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in unsafe bytes.copyBytes(from: path.utf8) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe body(address, length) == 0 ? 0 : errno
            }
        }
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case EADDRINUSE: "the address is in use"
        case EACCES: "permission denied"
        case EADDRNOTAVAIL: "this machine has no such address"
        default: unsafe String(cString: strerror(code))
        }
    }
}

/// Listening sockets that another process opened and passed on.
extension ListeningSocket {
    /// Takes over the socket `passed`. A TCP socket is copied once for each of `loops`, all of which accept
    /// from it; a Unix socket is for one loop alone.
    ///
    /// Throws: `ListenError` that names the descriptor and what is wrong with it; the socket then stays open.
    static func adopt(_ passed: PassedSocket, index: Int, loops: Int) throws(ListenError) -> [ListeningSocket] {
        let descriptor = passed.descriptor
        let name = "the passed socket \(descriptor)"
        guard let kind = option(SO_TYPE, of: descriptor) else {
            throw ListenError("\(name): \(errno == ENOTSOCK ? "no socket" : unsafe String(cString: strerror(errno)))")
        }
        guard kind == Int32(SOCK_STREAM.rawValue) else { throw ListenError("\(name): no stream socket") }
        guard option(SO_ACCEPTCONN, of: descriptor) == 1 else { throw ListenError("\(name): it does not listen") }
        guard let bound = bound(descriptor, isSecure: passed.isSecure) else {
            throw ListenError("\(name): neither a TCP nor a named Unix socket")
        }
        guard bound.address.isSecure == passed.isSecure else { throw ListenError("\(name): TLS is for TCP sockets") }
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
    private static func bound(_ descriptor: Int32, isSecure: Bool) -> BoundAddress? {
        if let address = SocketAddress(boundTo: descriptor) {
            return BoundAddress(address: .tcp(host: address.host, port: address.port, isSecure: isSecure))
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
