import CCurl
import Glibc
import Platform

/// A handle of libcurl's multi interface: many transfers on one thread, with the connections and the names they share.
///
/// The handle is driven by sockets (`curl_multi_socket_action`) and epoll, so that a transfer that hangs costs
/// nothing while others go on: `curl_multi_perform` looks at every transfer each time.
@safe public final class MultiHandle: @unchecked Sendable {  // unchecked: confined to one thread but for `wake`
    /// The sockets of its connections.
    public let sockets = SocketWatch()
    private let handle: UnsafeMutableRawPointer

    /// Makes a handle without transfers.
    ///
    /// - Parameter connections: how many are kept open for the next transfer; the one idle longest is closed first.
    public init(connections: Int) {
        guard let handle = unsafe curl_multi_init() else {
            preconditionFailure("the process has memory for its courier at start")
        }
        unsafe self.handle = handle
        unsafe ccurl_multi_set_number(handle, CURLMOPT_MAXCONNECTS, connections)
        unsafe ccurl_multi_set_watcher(handle, watchSocket, Unmanaged.passUnretained(sockets).toOpaque())
    }

    deinit { unsafe curl_multi_cleanup(handle) }

    /// Begins a transfer, which moves from the next `perform` on. Returns false where there is no memory.
    public func add(_ transfer: EasyHandle) -> Bool {
        unsafe curl_multi_add_handle(handle, transfer.handle) == CURLM_OK
    }

    /// Takes a transfer out, ended or not.
    public func remove(_ transfer: EasyHandle) {
        unsafe curl_multi_remove_handle(handle, transfer.handle)
    }

    /// Moves the transfers that were added, whose sockets `wait` found ready, or whose time is over.
    public func perform() {
        sockets.forEachReady(act)
        act(-1, 0)  // CURL_SOCKET_TIMEOUT
    }

    private func act(_ socket: curl_socket_t, _ bits: Int32) {
        var running: Int32 = 0
        unsafe curl_multi_socket_action(handle, socket, bits, &running)
    }

    /// The `EasyHandle.index` of the next transfer that has ended, and its result; remove the transfer before
    /// asking again.
    public func nextEnded() -> (index: Int, code: CurlCode)? {
        var code = CURLE_OK
        guard let context = unsafe ccurl_multi_next(handle, &code) else { return nil }
        return (unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().index, CurlCode(code))
    }

    /// Waits until a transfer can go on, `wake` is called, or the time is over.
    ///
    /// - Returns: whether `wake` was called since the last wait. What was left for this thread before that is there.
    @discardableResult
    public func wait(milliseconds: Int32) -> Bool {
        var next = -1
        unsafe curl_multi_timeout(handle, &next)
        return sockets.wait(milliseconds: next < 0 ? milliseconds : Int32(min(Int(milliseconds), next)))
    }

    /// Ends the `wait` under way or the next one. May be called on any thread.
    public func wake() { sockets.wake() }
}

/// Watches a socket for libcurl. Called inside libcurl's calls, on the handle's thread, also as the handle is
/// cleaned up.
private func watchSocket(
    _: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ interest: Int32, _ context: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    unsafe Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue().watch(socket, interest)
    return 0
}

/// Watches libcurl's sockets by epoll. Confined to one thread but for `wake`.
///
/// A connection's socket stays in epoll while the connection is kept for its next transfer: to take it out and put it
/// back would cost two system calls each time.
public final class SocketWatch {
    /// A connection's socket.
    private struct Connection {
        /// The events that epoll watches the socket for; empty where it is not in epoll.
        var events: Epoll.Events = []
        /// Whether libcurl waits for it.
        var isAwaited = false
    }

    /// The tag of `wakeUp`; other tags are sockets.
    private static let wakeUpTag = UInt64.max

    private let epoll = Epoll()
    private let wakeUp = EventFD()
    private var connections: [curl_socket_t: Connection] = [:]
    private var events: [Epoll.Event] = []

    init() { epoll.add(wakeUp.descriptor, .readable, tag: Self.wakeUpTag) }

    /// Ends the `wait` under way or the next one. May be called on any thread.
    func wake() { wakeUp.signal() }

    /// Notes a connection's socket, once made. Other sockets of libcurl's, such as those of lookups, are not
    /// noted.
    func opened(_ socket: curl_socket_t) { connections[socket] = Connection() }

    /// Drops a connection's socket, which is about to be closed; closing takes it out of epoll.
    func willClose(_ socket: curl_socket_t) { connections[socket] = nil }

    /// Watches a socket for `interest`, one of libcurl's `CURL_POLL_…`.
    func watch(_ socket: curl_socket_t, _ interest: Int32) {
        let isAwaited = interest != CURL_POLL_REMOVE
        var wanted: Epoll.Events = []
        if interest == CURL_POLL_IN || interest == CURL_POLL_INOUT { wanted.insert(.readable) }
        if interest == CURL_POLL_OUT || interest == CURL_POLL_INOUT { wanted.insert(.writable) }
        guard let connection = connections[socket] else {
            if isAwaited { set(socket, wanted) } else { epoll.remove(socket) }
            return
        }
        if isAwaited, connection.events != wanted { set(socket, wanted) }
        connections[socket] = Connection(events: isAwaited ? wanted : connection.events, isAwaited: isAwaited)
    }

    private func set(_ socket: curl_socket_t, _ wanted: Epoll.Events) {
        let tag = UInt64(socket)
        if epoll.add(socket, wanted, tag: tag) == EEXIST { epoll.modify(socket, wanted, tag: tag) }
    }

    /// Waits until a socket is ready, `wake` was called, or the time is over. Returns whether `wake` was called.
    func wait(milliseconds: Int32) -> Bool {
        epoll.wait(&events, milliseconds: milliseconds)
        guard let index = events.firstIndex(where: { $0.tag == Self.wakeUpTag }) else { return false }
        events.remove(at: index)
        // The caller looks next for what was left. Drained after that, a call in between would be lost.
        wakeUp.drain()
        return true
    }

    /// Calls `act` once for each socket that the last `wait` found ready, with its `CURL_CSELECT_…`.
    func forEachReady(_ act: (curl_socket_t, Int32) -> Void) {
        for event in events {
            let socket = curl_socket_t(event.tag)
            if let connection = connections[socket], !connection.isAwaited {
                // The peer closed a connection that was kept. libcurl notices when it is to use the connection
                // again.
                epoll.remove(socket)
                connections[socket] = Connection()
                continue
            }
            // With neither bit, as after a failure, libcurl finds out by itself.
            let input = event.events.contains(.readable) ? CURL_CSELECT_IN : 0
            let output = event.events.contains(.writable) ? CURL_CSELECT_OUT : 0
            act(socket, input | output)
        }
        events.removeAll(keepingCapacity: true)
    }
}
