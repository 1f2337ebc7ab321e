import Glibc
import HTTPServer
import Platform
import Synchronization
import TLS
import TestSupport

/// A server on a free port, stopped when the object is released.
final class TestServer {
    let probe = Probe()
    let server: HTTPServer
    private let isSecure: Bool

    init(
        _ listeners: [ListenAddress] = [.tcp(host: "127.0.0.1", port: 0)], loops: Int = 1, bodyLimit: Int = 4_000_000,
        tls: TLSContext? = nil, limits change: (inout ServerLimits) -> Void = { _ in }
    ) throws {
        var limits = ServerLimits()
        change(&limits)
        let probe = probe
        var configuration = ServerConfiguration(listeners: listeners, loops: loops, limits: limits)
        configuration.tls = tls
        isSecure = listeners.first?.isSecure ?? false
        server = try HTTPServer(configuration) { loop in
            probe.add(loop)
            return TestHandler(probe, bodyLimit: bodyLimit)
        }
        server.start()
    }

    /// A server with TLS; nothing else differs.
    convenience init(isSecure: Bool, loops: Int = 1, limits change: (inout ServerLimits) -> Void = { _ in }) throws {
        let address = ListenAddress.tcp(host: "127.0.0.1", port: 0, isSecure: isSecure)
        let context = isSecure ? try TestCertificate.shared.get().context() : nil
        try self.init([address], loops: loops, tls: context, limits: change)
    }

    deinit { server.stop(deadlineSeconds: 0) }

    var port: UInt16 { server.boundAddresses[0].port ?? 0 }

    /// A client, with TLS where the server has it.
    func client(from source: UInt8 = 1) -> RawClient {
        RawClient(port: port, from: source, tls: isSecure ? TLSClient() : nil)
    }

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
