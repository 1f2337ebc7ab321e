import CLinux
public import Glibc

/// Takes the connections that came to a listening socket.
public enum Accepting {
    /// Takes the next connection: its socket, which does not block, and the peer's address, which `peer` makes of
    /// the kernel's. Returns nil where no connection waits, or no descriptor is left.
    public static func next<Address>(
        _ listener: Int32, peer: (UnsafePointer<sockaddr>) -> Address?
    ) -> (socket: Int32, peer: Address?)? {
        var storage = sockaddr_storage()
        let size = UInt32(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { storage in
            let socket = unsafe clinux_accept(listener, storage, size)
            guard socket >= 0 else { return nil }
            return unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe (socket, peer(UnsafePointer(address)))
            }
        }
    }
}
