import HTTPServer
import Platform
package import TimerAPI
package import TimerLog
package import TimerService

/// A whole server in this process: the API on a port of the loopback, the engine, and a log in memory, on clocks that
/// the test moves. It sends no webhooks. It ends with its last reference.
package final class WholeServer {
    package let service: TimerService
    package let api: APIServer
    package let time: ManualTime

    /// A server that owns the log of `store`, or that has `place` among the servers that share it.
    ///
    /// - Parameters:
    ///   - standby: whether the log is read while another process owns it.
    ///   - configure: changes how the API behaves.
    ///   - desks: make the desks for what another server answers.
    ///   - engine: how the engine behaves.
    package init(
        _ store: any LogStore = MemoryLogStore(), _ time: ManualTime = ManualTime(), place: (any ClusterPlace)? = nil,
        standby: StandbyKind = .cold, forwardingBy desks: (any RequestDesks)? = nil,
        engine: EngineConfiguration = EngineConfiguration(), configure: (inout APIConfiguration) -> Void = { _ in }
    ) throws {
        self.time = time
        var configuration = APIConfiguration(listeners: [.tcp(host: "127.0.0.1", port: 0)])
        configure(&configuration)
        let recovery = Heartbeat(name: "recovery")
        api = try APIServer(configuration, recovery: recovery)
        service = try TimerService(
            store: store, place: place, standby: standby, configuration: engine, alarm: ManualAlarm(time),
            timeSource: time, recovery: recovery, report: { _ in })
        service.start()
        api.start()
        api.serve(service, forwardingBy: desks)
    }

    deinit { stop() }

    private var isStopped = false

    /// Drains and stops the server.
    package func stop() {
        guard !isStopped else { return }
        isStopped = true
        api.stop(drainSeconds: 1)
        service.stop()
    }

    /// The port on which the server listens for clients.
    package var port: UInt16 {
        get throws { try port(of: 0) }
    }

    /// The port of a listener, by its index.
    package func port(of listener: Int) throws -> UInt16 {
        guard let port = api.boundAddresses[listener].port else {
            throw TimedOut(description: "no port of \(listener)")
        }
        return port
    }

    /// The answer to a request on a connection of its own.
    ///
    /// - Parameters:
    ///   - body: sent with its length as `type`; nil for a request without a body.
    ///   - host: the value of `Host`.
    ///   - headers: further lines of the head, each with its CR LF.
    ///   - listener: the index of the listener that is connected to.
    package func ask(
        _ method: String = "GET", _ target: String, _ body: String? = nil, type: String = "application/json",
        host: String = "localhost", headers: String = "", listener: Int = 0
    ) throws -> RawClient.Answer {
        let client = RawClient(port: try port(of: listener))
        var head = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nRequest-Id: test\r\n\(headers)"
        if let body { head += "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n" }
        client.send(head + "\r\n" + (body ?? ""))
        guard let answer = client.answer(isHead: method == "HEAD") else {
            throw TimedOut(description: "\(method) \(target) got no answer")
        }
        return answer
    }
}
