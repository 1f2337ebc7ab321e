import Glibc
import HTTPServer
import Platform
import Synchronization
import TestSupport

/// A server on a free port, stopped when the object is released.
final class TestServer {
    let probe = Probe()
    let server: HTTPServer

    init(
        _ listeners: [ListenAddress] = [.tcp(host: "127.0.0.1", port: 0)], loops: Int = 1, bodyLimit: Int = 4_000_000,
        limits change: (inout ServerLimits) -> Void = { _ in }
    ) throws {
        var limits = ServerLimits()
        change(&limits)
        let probe = probe
        server = try HTTPServer(
            ServerConfiguration(listeners: listeners, loops: loops, limits: limits)
        ) { loop in
            probe.add(loop)
            return TestHandler(probe, bodyLimit: bodyLimit)
        }
        server.start()
    }

    deinit { server.stop(deadlineSeconds: 0) }

    var port: UInt16 { server.boundAddresses[0].port ?? 0 }

    func client() -> RawClient { RawClient(port: port) }

    /// Waits until the server counts that many connections and streams; false after `Patience`.
    func settles(connections: Int, streams: Int) -> Bool {
        settles { server.connectionCount == connections && server.streamCount == streams }
    }

    /// Waits until the server counts that many bytes of larger bodies under way; false after `Patience`.
    func settles(bodyBytes: Int) -> Bool {
        settles { server.bodyBytes == bodyBytes }
    }

    /// Waits until the server counts that many bytes of larger answers under way; false after `Patience`.
    func settles(answerBytes: Int) -> Bool {
        settles { server.answerBytes == answerBytes }
    }

    private func settles(_ isSo: () -> Bool) -> Bool {
        let end = Clocks.monotonic() + Patience.nanoseconds
        while !isSo() {
            guard Clocks.monotonic() < end else { return false }
            sched_yield()
        }
        return true
    }
}
