import CMicroHTTPD
import Glibc
import TLS

/// The way of a detached socket's bytes: the socket itself, or TLS over it.
struct SocketTransport {
    let descriptor: Int32
    /// The TLS over the socket; nil for none.
    var session: TLSSession?

    /// Sends bytes, which are not none. Returns how many were taken, or −1 when the connection is broken. Bytes that
    /// were not taken must come first next time.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        if let session { return unsafe session.writeSome(bytes) }
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
        return count >= 0 ? count : errno == EAGAIN || errno == EINTR ? 0 : -1
    }

    /// Reports to the peer that no bytes follow. Returns false where the socket is of no use any more.
    func endSending() -> Bool {
        session?.closeNotify()
        return shutdown(descriptor, Int32(SHUT_WR)) == 0
    }
}

extension TLSSession {
    /// Writes as much as the socket takes. Returns how many bytes, or −1 when the connection is broken.
    func writeSome(_ bytes: UnsafeRawBufferPointer) -> Int {
        var sent = 0
        while sent < bytes.count {
            switch unsafe write(UnsafeRawBufferPointer(rebasing: bytes[sent...])) {
            case .done(let count): sent += count
            case .wantsReading, .wantsWriting: return sent
            case .ended, .failed: return -1
            }
        }
        return sent
    }
}
