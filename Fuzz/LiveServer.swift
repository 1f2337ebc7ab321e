import Glibc
import HTTPServer
import Platform
import TimerCore
import TimerLog

@testable import TimerAPI
@testable import TimerService

/// The whole server, in this process, on a Unix socket. It sends no webhooks, as the fuzzer makes their URLs.
final class LiveServer: Sendable {
    static let shared = LiveServer()

    private let service: TimerService
    private let server: APIServer
    private static let path = ".build/fuzz/http-\(getpid()).sock"

    private init() {
        atexit { _ = unsafe unlink(LiveServer.path) }
        var engine = EngineConfiguration()
        engine.maximumTimers = 1000
        engine.maximumIdempotencyKeys = 1000
        engine.retainBytes = 1 << 20
        engine.deliveries.backlog = 1000
        engine.deliveries.deadLetters = 1000
        engine.zones = hostZones
        var api = APIConfiguration(listeners: [.unix(path: Self.path)])
        api.maximumStreams = 100
        do {
            service = try TimerService(store: MemoryLogStore(), configuration: engine) { _ in }
            server = try APIServer(api, recovery: Heartbeat(name: "recovery"))
        } catch {
            fatalError("the server does not start: \(error)")
        }
        service.start()
        server.start()
        server.serve(service)
    }

    private var engine: Engine {
        guard let log = service.log.value else { preconditionFailure("a process without others owns its log") }
        return log.engine
    }

    var timerCount: Int { engine.lock.withLock { engine.scheduler.count } }

    /// Opens a new connection.
    func connect() -> Int32 {
        let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in unsafe bytes.copyBytes(from: Self.path.utf8) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isConnected = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe Glibc.connect(client, address, length) == 0
            }
        }
        require(isConnected, "the server takes no connection: \(errno)")
        return client
    }
}
