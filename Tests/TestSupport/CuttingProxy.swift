import Foundation
import Glibc
import Platform

/// A proxy between a client and a server on a Unix socket, which counts the bytes that pass, and cuts or stalls a
/// connection at any byte.
package final class CuttingProxy: Sendable {
    /// The way that bytes go.
    package enum Direction: Sendable { case toServer, toClient }

    /// The end of a connection once the bytes have passed.
    package enum Action: Sendable {
        /// Both sides are closed.
        case cut
        /// The client's side is closed, and the server's stays open, as when a network is lost.
        case halfOpen
    }

    private struct State {
        var plan: (direction: Direction, left: Int, action: Action)?
        var passed: [Direction: Int] = [:]
        var isStopped = false
        var held: [Int32] = []
    }

    /// The folder that holds the socket, as libpq's `host`.
    package let folder: String
    private let target: String
    private let listener: Int32
    private let state = Guarded(State())

    /// Makes a proxy to the server's socket.
    package init(to server: PostgresServer) throws {
        target = server.socket
        folder = "/tmp/timerd-proxy-\(getpid())-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        listener = RawSocket.bound(toPath: folder + "/.s.PGSQL.5432")
        precondition(listen(listener, 64) == 0, "a bound socket can listen")
        Thread(name: "proxy") { [self] in accept() }.detach()
    }

    /// Passes the next connections on as usual, and counts from 0.
    package func reset() {
        state.withLock { state in
            state.plan = nil
            state.passed = [:]
        }
    }

    /// Cuts the connection whose bytes reach `count` from now on in that direction.
    package func plan(_ direction: Direction, after count: Int, _ action: Action = .cut) {
        state.withLock { state in
            state.plan = (direction, count, action)
            state.passed = [:]
        }
    }

    /// Whether the planned cut has happened.
    package var hasCut: Bool { state.withLock { $0.plan == nil } }

    /// The number of bytes that have passed since `reset` or `plan`.
    package func passed(_ direction: Direction) -> Int { state.withLock { $0.passed[direction] ?? 0 } }

    /// Takes no more connections, and closes the half-open ones.
    package func stop() {
        let held = state.withLock { state in
            state.isStopped = true
            return state.held
        }
        for socket in held { close(socket) }
        shutdown(listener, Int32(SHUT_RDWR))
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { break }
            // A server that starts meanwhile must not inherit the socket and keep it open.
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            Thread(name: "proxied") { [self] in serve(client) }.detach()
        }
        close(listener)
    }

    private func serve(_ client: Int32) {
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = RawSocket.unixName(target)
        let result = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe connect(server, generic, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        var action: Action? = result == 0 ? nil : .cut
        while action == nil {
            var both = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe poll(&both, 2, 60_000)
            if both[0].revents != 0 { action = pass(client, server, .toServer) }
            if action == nil, both[1].revents != 0 { action = pass(server, client, .toClient) }
        }
        close(client)
        if action == .halfOpen,
            state.withLock({
                $0.held.append(server); return !$0.isStopped
            })
        {
            return
        }
        close(server)
    }

    /// Passes on the bytes that are there. Returns the end of the connection, or nil where it goes on.
    private func pass(_ from: Int32, _ to: Int32, _ direction: Direction) -> Action? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(from, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return .cut }
        let (allowed, action) = state.withLock { state -> (Int, Action?) in
            guard let plan = state.plan, plan.direction == direction else {
                state.passed[direction, default: 0] += count
                return (count, nil)
            }
            let allowed = min(count, plan.left)
            state.passed[direction, default: 0] += allowed
            if plan.left > count {
                state.plan?.left -= count
                return (count, nil)
            }
            state.plan = nil
            return (allowed, plan.action)
        }
        guard RawSocket.send(Array(buffer[..<allowed]), to: to) else { return .cut }
        return action
    }
}
