import Glibc

/// The socket on which a service manager takes messages, one datagram each; `NOTIFY_SOCKET` names it. May be used
/// on any thread.
public final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let address: sockaddr_un
    private let length: socklen_t

    /// Seconds that one message may wait for a receiver that reads none.
    private static let patienceSeconds = 1

    /// Opens a socket to the one at `name`: a path from the root on, or a name without a file, with `@` before it.
    ///
    /// Nil where `name` is neither or is too long, or no descriptor is left.
    public init?(_ name: String) {
        var bytes = Array(name.utf8)
        var address = sockaddr_un()
        guard bytes.count > 1, !bytes.contains(0), bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            return nil
        }
        switch bytes[0] {
        case UInt8(ascii: "/"): bytes.append(0)
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        // The name of a socket without a file ends where the address does.
        length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count)
        self.address = address
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
        unsafe setsockopt(
            descriptor, Int32(SOL_SOCKET), SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Sends a message. Returns 0 or the errno.
    public func send(_ text: String) -> Int32 {
        let bytes = Array(text.utf8)
        let sent = unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
        return sent == bytes.count ? 0 : errno
    }
}
