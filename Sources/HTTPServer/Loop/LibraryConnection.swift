import CMicroHTTPD
import Glibc

/// A connection inside libmicrohttpd. Valid from the library's call that it started to the call that it closed, on its
/// loop's thread.
@safe struct LibraryConnection {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    /// The peer's IP address; nil for a Unix socket's.
    var peer: SocketAddress? {
        unsafe SocketAddress(cmhd_peer(pointer))
    }

    /// The number of bytes of the request's head, once complete.
    var headSize: Int {
        unsafe cmhd_head_size(pointer)
    }

    /// Hands the answer to the library, which writes it in this run or the next.
    ///
    /// - Parameters:
    ///   - body: must stay as it is until the request is completed.
    ///   - closes: whether the connection ends with this answer.
    /// - Returns: false when the library can't take it; the connection must then be dropped.
    func queue(_ response: borrowing Response, body: UnsafeMutableRawBufferPointer, closes: Bool) -> Bool {
        guard
            let reply = unsafe MHD_create_response_from_buffer(body.count, body.baseAddress, .RESPMEM_PERSISTENT)
        else { return false }
        if closes { unsafe MHD_add_response_header(reply, "Connection", "close") }
        unsafe response.head.withUnsafeBytes { head in
            guard let base = unsafe head.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            for field in response.fields {
                unsafe MHD_add_response_header(reply, base + field.nameStart, base + field.valueStart)
            }
        }
        let queued = unsafe MHD_queue_response(pointer, UInt32(response.status), reply)
        unsafe MHD_destroy_response(reply)
        return queued == .YES
    }

    /// A further descriptor for the connection's socket, or −1.
    ///
    /// The library closes its own descriptor when it is made to drop the connection, without shutting the socket
    /// down (it runs in "turbo" mode), so the socket stays open, through this descriptor alone.
    func duplicateSocket() -> Int32 {
        fcntl(unsafe cmhd_socket(pointer), F_DUPFD_CLOEXEC, 0)
    }

    /// Whether the peer has ended its side and everything it sent was read.
    var isAtEnd: Bool {
        var byte: UInt8 = 0
        return unsafe recv(cmhd_socket(pointer), &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    /// The number of bytes received from the peer; nil where the kernel does not count them, as for Unix sockets.
    var bytesReceived: UInt64? {
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.infoBytes, alignment: 8) { info in
            var size = socklen_t(info.count)
            let result = unsafe getsockopt(
                cmhd_socket(pointer), Int32(IPPROTO_TCP), TCP_INFO, info.baseAddress, &size)
            guard result == 0, Int(size) == info.count else { return nil }
            return unsafe info.load(fromByteOffset: Self.bytesReceivedOffset, as: UInt64.self)
        }
    }

    /// The offsets at which `tcpi_bytes_received` begins and ends in the kernel's `tcp_info`; glibc's has no such
    /// field.
    private static let bytesReceivedOffset = 128
    private static let infoBytes = 136

    /// Ends the socket in both directions; the library notices and closes the connection.
    func shutDown() {
        shutdown(unsafe cmhd_socket(pointer), Int32(SHUT_RDWR))
    }

    /// Calls back with each header line of the request, through `receiveHeader`.
    func readHeaders(into head: UnsafeMutablePointer<HeadReader>) {
        unsafe MHD_get_connection_values_n(pointer, .HEADER_KIND, receiveHeader, head)
    }
}

private func receiveHeader(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameSize: Int,
    _ value: UnsafePointer<CChar>?, _ valueSize: Int
) -> MHD_Result {
    guard let context = unsafe context, let name = unsafe name else { return .NO }
    let head = unsafe context.assumingMemoryBound(to: HeadReader.self)
    let nameBytes = unsafe UnsafeRawBufferPointer(start: name, count: nameSize).bindMemory(to: UInt8.self)
    let valueBytes = unsafe UnsafeRawBufferPointer(start: value, count: valueSize).bindMemory(to: UInt8.self)
    unsafe head.pointee.take(name: nameBytes, value: valueBytes)
    return .YES
}

/// Copies a request's head out of the library's buffer and checks that the library read it as it was sent.
///
/// The library cuts the head into C strings inside its receive buffer, which hides zero bytes, joins folded lines
/// wrongly and accepts surplus spaces and a missing CR. So each piece must begin exactly where the one before it ended.
@safe struct HeadReader {
    var headers: RequestHeaders
    private(set) var isWellFormed = true
    private var end: UInt
    private let headEnd: UInt

    /// `target` is the address of the target in the buffer, and its length.
    init(
        _ headers: consuming RequestHeaders, method: UnsafePointer<CChar>, target: (start: UInt, length: Int),
        version: UnsafePointer<CChar>, headSize: Int
    ) {
        self.headers = headers
        let start = UInt(bitPattern: method)
        let versionStart = UInt(bitPattern: version)
        headEnd = start + UInt(headSize)
        end = versionStart + UInt(unsafe strlen(version))
        isWellFormed =
            target.start == start + UInt(unsafe strlen(method)) + 1
            && versionStart == target.start + UInt(target.length) + 1
    }

    mutating func take(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        check(lineStart: UInt(bitPattern: name.baseAddress))
        headers.append(name: unsafe name.span, value: unsafe value.span)
        end = UInt(bitPattern: value.baseAddress) + UInt(value.count)
    }

    /// Checks that only the blank line follows the last header.
    mutating func finish() {
        if headEnd &- end != 4 { isWellFormed = false }
    }

    /// A line ends in CR LF: two servers may read an LF alone differently.
    private mutating func check(lineStart: UInt) {
        if lineStart &- end != 2 { isWellFormed = false }
    }
}
