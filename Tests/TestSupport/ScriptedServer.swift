import Glibc
import Platform

/// A server of a few lines: answers each request with the next bytes of its script, and keeps what it was sent.
package final class ScriptedServer: Sendable {
    /// A way to answer one request.
    package enum Step: Sendable {
        /// Send this, and keep the connection.
        case answer(String)
        /// Send this, then end the connection.
        case answerAndClose(String)
        /// Send this, then nothing more until the client goes.
        case answerAndHold(String)
    }

    private struct State {
        var received: [String] = []
        var accepted = 0
        /// The connection that is served.
        var current: Int32?
        var thread: Thread?
        var isStopping = false
    }

    package let address: String
    private let listener: Int32
    private let script: [Step]
    private let state = Guarded(State())

    /// The requests received so far, head and body of each.
    package var requests: [String] { state.withLock { $0.received } }
    /// The number of connections taken so far.
    package var connections: Int { state.withLock { $0.accepted } }

    /// Listens on a free port of the loopback interface, or on a Unix socket.
    package init(_ script: [Step], socketPath: String? = nil) {
        self.script = script
        if let socketPath {
            listener = RawSocket.bound(toPath: socketPath)
            address = "unix:\(socketPath)"
        } else {
            let port: UInt16
            (listener, port) = RawSocket.boundToLoopback()
            address = "http://127.0.0.1:\(port)"
        }
        precondition(Glibc.listen(listener, 8) == 0, "a bound socket can listen")
        let thread = Thread(name: "script") { [self] in serve() }
        state.withLock { $0.thread = thread }
    }

    /// Stops the server; the rest of the script is not used.
    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        // A client that keeps its connection must not keep the server running.
        let thread = state.withLock { state in
            state.isStopping = true
            if let current = state.current { shutdown(current, Int32(SHUT_RDWR)) }
            return state.thread.take()
        }
        thread?.join()
        close(listener)
    }

    private func serve() {
        var steps = script[...]
        while !steps.isEmpty {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { break }
            state.withLock { state in
                state.accepted += 1
                state.current = connection
                if state.isStopping { shutdown(connection, Int32(SHUT_RDWR)) }
            }
            while let step = steps.first, let request = RawSocket.readRequest(from: connection) {
                state.withLock { $0.received.append(request) }
                steps.removeFirst()
                if !Self.carryOut(step, connection) { break }
            }
            state.withLock { $0.current = nil }
            close(connection)
        }
    }

    /// Answers one request. Returns whether the connection stays.
    private static func carryOut(_ step: Step, _ connection: Int32) -> Bool {
        switch step {
        case .answer(let text):
            _ = RawSocket.send(Array(text.utf8), to: connection)
            return true
        case .answerAndClose(let text):
            _ = RawSocket.send(Array(text.utf8), to: connection)
            return false
        case .answerAndHold(let text):
            _ = RawSocket.send(Array(text.utf8), to: connection)
            _ = RawSocket.readRequest(from: connection)
            return false
        }
    }
}
