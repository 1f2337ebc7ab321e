import Glibc

/// Socket calls that the servers and clients here share.
package enum RawSocket {
    /// A TCP socket at a free port of the loopback interface. It does not listen yet.
    package static func boundToLoopback() -> (socket: Int32, port: UInt16) {
        let bound = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = unsafe withUnsafeMutablePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                precondition(unsafe bind(bound, generic, length) == 0, "a free port can be bound")
                unsafe getsockname(bound, generic, &length)
            }
            return unsafe UInt16(bigEndian: pointer.pointee.sin_port)
        }
        return (bound, port)
    }

    /// A Unix socket at `path`, where nothing is yet. It does not listen yet.
    package static func bound(toPath path: String) -> Int32 {
        let bound = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = unixName(path)
        let result = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(bound, generic, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(result == 0, "a fresh path can be bound")
        return bound
    }

    /// The address of the Unix socket at `path`.
    static func unixName(_ path: String) -> sockaddr_un {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return name
    }

    /// Sends all of `bytes`. False when the peer takes no more.
    package static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads head and body of the next request; nil when the client has gone. Clients do not send ahead.
    static func readRequest(from socket: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            if let end = headEnd(bytes) {
                let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
                let line = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
                let length = line.flatMap { Int($0.dropFirst("content-length: ".count)) } ?? 0
                if bytes.count - end >= length { return String(decoding: bytes, as: UTF8.self) }
            }
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= mark.count else { return nil }
        return (0...bytes.count - mark.count).first { bytes[$0..<$0 + mark.count].elementsEqual(mark) }
            .map { $0 + mark.count }
    }
}
