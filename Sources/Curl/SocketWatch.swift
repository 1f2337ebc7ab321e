import CCurl
import Glibc
import Platform

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

    /// Waits until a socket is ready, `wake` was called, or the time is over.
    func wait(milliseconds: Int32) { epoll.wait(&events, milliseconds: milliseconds) }

    /// Calls `act` once for each socket that the last `wait` found ready, with its `CURL_CSELECT_…`.
    func forEachReady(_ act: (curl_socket_t, Int32) -> Void) {
        for event in events {
            guard event.tag != Self.wakeUpTag else {
                wakeUp.drain()
                continue
            }
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
