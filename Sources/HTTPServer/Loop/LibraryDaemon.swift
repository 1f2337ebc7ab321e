import CMicroHTTPD
import Glibc

/// A listening socket of one loop, and its connections, inside libmicrohttpd. Only the loop runs it.
///
/// A secure daemon does not listen: it is given the connections whose handshake is done.
@safe final class LibraryDaemon {
    /// The loop that runs the daemon.
    unowned let loop: LoopCore
    /// The index of the daemon's address in the configuration.
    let listenerIndex: Int
    /// Whether only this machine can connect.
    let isLoopback: Bool
    /// Whether its connections have TLS.
    let isSecure: Bool
    /// The secure connection that the library is given at present.
    private(set) var arriving: SecureConnection?
    private var pointer: OpaquePointer?

    /// Bytes of memory that the library has for a connection. The library clears them after each request, so more
    /// costs time (32 KiB: 15 %). An 8 KiB head must fit, or the library would refuse it with an answer of its
    /// own.
    private static let memoryBytes = 16 * 1024

    /// Takes over the listening socket, also if it throws.
    init(_ listener: ListeningSocket, loop: LoopCore) throws(ListenError) {
        self.loop = loop
        listenerIndex = listener.index
        isLoopback = listener.bound.address.isLoopback
        isSecure = listener.bound.address.isSecure
        var calls = unsafe cmhd_callbacks()
        unsafe calls.context = Unmanaged.passUnretained(self).toOpaque()
        unsafe calls.accept = acceptConnection
        unsafe calls.connection = noteConnection
        unsafe calls.request_line = noteRequestLine
        unsafe calls.request = handleRequest
        unsafe calls.completed = noteCompleted
        // `SocketQuota` refuses first; the library's own limit is only a second bound.
        let connections = UInt32(clamping: loop.quota.most + Self.spareConnections)
        let socket = isSecure ? -1 : listener.descriptor
        unsafe pointer = cmhd_start(socket, connections, Self.memoryBytes, calls)
        guard unsafe pointer != nil else {
            close(listener.descriptor)
            throw ListenError("\(listener.bound): libmicrohttpd could not start")
        }
    }

    private static let spareConnections = 64

    /// A descriptor that is readable when `run` has something to do.
    var pollDescriptor: Int32 {
        unsafe cmhd_epoll(pointer)
    }

    /// Whether `run` has something to do that the descriptor does not show.
    var hasWork: Bool {
        var milliseconds: UInt64 = 0
        return unsafe MHD_get_timeout(pointer, &milliseconds) == .YES && milliseconds == 0
    }

    /// Accepts, reads, calls the loop, writes; never waits.
    ///
    /// A wait here would lose wake-ups: when a wait returns exactly as many events as the library's array holds, the
    /// library waits again, with the whole timeout.
    func run() {
        unsafe MHD_run_wait(pointer, 0)
    }

    /// Gives the library the socket by which it serves `connection`, and starts the connection's exchange. The library
    /// takes the socket over, also where it can't serve it: then this returns false.
    func add(_ socket: Int32, for connection: SecureConnection) -> Bool {
        arriving = connection
        defer { arriving = nil }
        return unsafe connection.peer.withKernelAddress { address, length in
            unsafe MHD_add_connection(pointer, socket, address, length) == .YES
        }
    }

    /// Stops accepting connections.
    func quiesce() {
        guard !isSecure else { return }
        let listener = unsafe MHD_quiesce_daemon(pointer)
        if listener >= 0 { close(listener) }
    }

    /// Ends the daemon: closes every connection, and reports each to the loop.
    func stop() {
        unsafe MHD_stop_daemon(pointer)
        unsafe pointer = nil
    }
}

// MARK: - Callbacks of the library, always from `run` or `stop`, on the loop's thread

private func daemon(_ context: UnsafeMutableRawPointer?) -> LibraryDaemon? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<LibraryDaemon>.fromOpaque(context).takeUnretainedValue()
}

/// Calls `body` with the connection's exchange, which the connection itself keeps alive meanwhile.
@inline(__always) private func withExchange<Result>(
    _ connection: OpaquePointer?, _ body: (Exchange) -> Result
) -> Result? {
    guard let connection = unsafe connection, let context = unsafe cmhd_context(connection) else { return nil }
    return unsafe Unmanaged<Exchange>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
}

private func acceptConnection(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t
) -> MHD_Result {
    guard let daemon = unsafe daemon(context) else { return .NO }
    // A secure connection was admitted before its handshake.
    return daemon.isSecure || daemon.loop.admits(unsafe SocketAddress(address)) ? .YES : .NO
}

private func noteConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
) {
    guard let daemon = unsafe daemon(context), let connection = unsafe connection, let slot = unsafe slot else {
        return
    }
    if code == .CONNECTION_NOTIFY_STARTED {
        let exchange = daemon.loop.connectionStarted(unsafe LibraryConnection(connection), on: daemon)
        unsafe slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
    } else if let context = unsafe slot.pointee {
        unsafe slot.pointee = nil
        let exchange = unsafe Unmanaged<Exchange>.fromOpaque(context).takeRetainedValue()
        exchange.connectionClosed()
    }
}

private func noteRequestLine(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    let bytes = unsafe UnsafeRawBufferPointer(start: target, count: target.map { text in unsafe strlen(text) } ?? 0)
    _ = unsafe withExchange(connection) { exchange in unsafe exchange.requestLineArrived(target: bytes) }
    // The library would parse the query, with an allocation for each parameter, and would close the connection without
    // an answer where there are too many. It has noted where the query begins, so an empty query is written there. The
    // text is in the library's receive buffer, which the library is about to write to itself.
    if let query = unsafe bytes.firstIndex(of: UInt8(ascii: "?")), query + 1 < bytes.count {
        let buffer = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        unsafe buffer?.storeBytes(of: 0, toByteOffset: query + 1, as: UInt8.self)
    }
    return nil
}

private func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>?, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let method = unsafe method, let version = unsafe version, let uploadSize = unsafe uploadSize else {
        return .NO
    }
    let goesOn = unsafe withExchange(connection) { exchange in
        if exchange.stage == .head { return unsafe exchange.headArrived(method: method, version: version) }
        guard unsafe uploadSize.pointee > 0 else { return exchange.requestIsComplete() }
        let bytes = unsafe UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
        unsafe uploadSize.pointee = 0
        return exchange.bodyArrived(unsafe bytes.assumingMemoryBound(to: UInt8.self).span)
    }
    return goesOn == true ? .YES : .NO
}

private func noteCompleted(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    _ = unsafe withExchange(connection) { exchange in exchange.requestEnded() }
}
