import Glibc
import Platform

/// A server of a few lines for many connections at once: answers each request as the test says, and counts.
package final class Receiver: Sendable {
    /// One request and the way to answer it.
    package struct Visit: Sendable {
        /// The head and the body as they came.
        package let text: String
        fileprivate let socket: Int32

        /// The target of the request line.
        package var path: String { text.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

        /// Sends bytes as they are. Returns false once the client has gone.
        @discardableResult
        package func send(_ text: String) -> Bool { RawSocket.send(Array(text.utf8), to: socket) }

        /// Sends a whole answer with a body.
        package func answer(_ status: Int, _ headers: [String] = [], body: String = "ok") {
            let lines = ["HTTP/1.1 \(status) Word", "Content-Length: \(body.utf8.count)"] + headers
            send(lines.map { $0 + "\r\n" }.joined() + "\r\n" + body)
        }

        /// Ends the connection by a reset.
        package func reset() {
            var linger = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        }

        /// Whether the client ends the connection within a time; it also paces an answer sent byte by byte.
        package func hasEnded(withinMs: Int32) -> Bool {
            var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            return unsafe Glibc.poll(&poll, 1, withinMs) != 0
        }

        /// Waits until the client ends the connection.
        package func waitForEnd() {
            var byte: UInt8 = 0
            while unsafe recv(socket, &byte, 1, 0) > 0 {}
        }
    }

    /// Whether the connection stays after an answer.
    package enum After {
        /// The connection serves the next request.
        case keep
        /// The connection is closed.
        case close
    }

    private struct State {
        var texts: [String] = []
        var accepted = 0
        var open: Set<Int32> = []
        /// The accepting thread, then those of the connections.
        var threads: [Thread] = []
        var isStopping = false
    }

    package let port: UInt16
    private let listener: Int32
    private let handle: @Sendable (Visit) -> After
    private let state = Guarded(State())

    /// Listens on a free port of the loopback interface.
    ///
    /// - Parameter handle: answers a request, on a thread of its connection.
    package init(_ handle: @escaping @Sendable (Visit) -> After) {
        self.handle = handle
        (listener, port) = RawSocket.boundToLoopback()
        precondition(Glibc.listen(listener, 1024) == 0, "a bound socket can listen")
        let thread = Thread(name: "receiver") { [self] in serve() }
        state.withLock { $0.threads.insert(thread, at: 0) }
    }

    package var base: String { "http://127.0.0.1:\(port)" }
    /// The requests received so far, head and body of each.
    package var requests: [String] { state.withLock { $0.texts } }
    /// The number of connections taken so far.
    package var connections: Int { state.withLock { $0.accepted } }

    /// Ends every connection and waits for every thread.
    package func stop() {
        let accepting = state.withLock { state in
            state.isStopping = true
            shutdown(listener, Int32(SHUT_RDWR))
            for socket in state.open { shutdown(socket, Int32(SHUT_RDWR)) }
            return state.threads.removeFirst()
        }
        accepting.join()
        for thread in state.withLock({ $0.threads }) { thread.join() }
        close(listener)
    }

    /// A port of the loopback interface without a listener.
    package static func deadPort() -> UInt16 {
        let (socket, port) = RawSocket.boundToLoopback()
        close(socket)
        return port
    }

    private func serve() {
        while true {
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else { break }
            let goesOn = state.withLock { state in
                if state.isStopping { return false }
                state.accepted += 1
                state.open.insert(socket)
                return true
            }
            guard goesOn else {
                close(socket)
                break
            }
            let thread = Thread(name: "connection") { [self] in
                converse(socket)
                state.withLock { _ = $0.open.remove(socket) }
                close(socket)
            }
            state.withLock { $0.threads.append(thread) }
        }
    }

    private func converse(_ socket: Int32) {
        while let text = RawSocket.readRequest(from: socket) {
            state.withLock { $0.texts.append(text) }
            if handle(Visit(text: text, socket: socket)) == .close { break }
        }
    }
}
