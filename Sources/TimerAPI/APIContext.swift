import CAssets
import HTTPServer
import Platform
import Synchronization
import TimerCore
import TimerService
import WireJSON

/// What the loops' handlers share.
final class APIContext: @unchecked Sendable {
    // Unchecked: `registered` is guarded by `lock`, the server set once before.
    let service: TimerService
    let configuration: APIConfiguration
    let gate: Gate
    private let lock = Lock()
    private var registered: [HTTPMetrics] = []
    let dashboard: Dashboard
    private let openAPI: [UInt8]
    private let isDraining = Atomic<Bool>(false)
    private let startedAt = Clocks.monotonic()
    /// When the process started, in seconds since 1970.
    let processStart = ProcessUsage.startSeconds()
    private var countStreams: @Sendable () -> Int = { 0 }

    init(_ service: TimerService, _ configuration: APIConfiguration) {
        self.service = service
        self.configuration = configuration
        gate = Gate(configuration)
        dashboard = unsafe Dashboard(
            Array(UnsafeBufferPointer(start: cassets_dashboard(), count: cassets_dashboard_count())))
        openAPI = unsafe Array(UnsafeBufferPointer(start: cassets_openapi(), count: cassets_openapi_count()))
    }

    /// Adds a loop's counts to those `/metrics` shows.
    func add(_ metrics: HTTPMetrics) { lock.withLock { registered.append(metrics) } }

    /// Every loop's counts.
    var metrics: [HTTPMetrics] { lock.withLock { registered } }

    /// Tells how the streams of all loops are counted.
    func setStreamCount(_ count: @escaping @Sendable () -> Int) { lock.withLock { countStreams = count } }

    /// How many streams and long polls are open.
    var streamCount: Int { lock.withLock { countStreams }() }

    /// From now on `/readyz` says that the server is stopping.
    func beginDrain() { isDraining.store(true, ordering: .releasing) }

    /// A page that is always the same, if the request is for one.
    func page(for ticket: Ticket) -> Outcome? {
        switch ticket.route {
        case .dashboard:
            return .dashboard(dashboard)
        case .openAPI:
            return .page(status: 200, type: "application/yaml", openAPI)
        case .problem:
            return ProblemKind(slug: ticket.parameter).map {
                .page(status: 200, type: "text/html; charset=utf-8", Pages.problem($0))
            }
        default:
            return nil
        }
    }

    /// A page about how the server is now.
    func dynamicPage(for ticket: Ticket) -> Outcome {
        switch ticket.route {
        case .healthz: return health()
        case .readyz: return readiness()
        case .metrics:
            return .page(
                status: 200, type: "text/plain; version=0.0.4; charset=utf-8", Array(MetricsText(self).text.utf8))
        case .stats: return .page(status: 200, type: "application/json", stats())
        default: preconditionFailure("a page that never changes was given before, all else is an operation")
        }
    }

    private func health() -> Outcome {
        let standing = service.watchdog.standing
        var json = JSONWriter()
        json.beginObject()
        json.key("status")
        json.string(standing.isEmpty ? "ok" : "stalled")
        if !standing.isEmpty {
            json.key("stalled")
            json.beginArray()
            for name in standing { json.string(name) }
            json.endArray()
        }
        json.endObject()
        return .page(status: standing.isEmpty ? 200 : 503, type: "application/json", json.bytes)
    }

    /// Whether `/readyz` is 200.
    var isReady: Bool { readinessWord == "ready" }

    private var readinessWord: String {
        if isDraining.load(ordering: .acquiring) { return "draining" }
        return service.isWritable ? "ready" : "storage-unavailable"
    }

    private func readiness() -> Outcome {
        let status = readinessWord
        return .page(
            status: status == "ready" ? 200 : 503, type: "application/json", Array("{\"status\":\"\(status)\"}".utf8))
    }

    private func stats() -> [UInt8] {
        let counters = service.engine.snapshotCounters()
        var json = JSONWriter()
        json.beginObject()
        json.key("version")
        json.string(configuration.version)
        json.member("uptime", duration: (Clocks.monotonic() - startedAt) / 1_000_000)
        json.key("timers")
        json.beginObject()
        for state in TimerState.allCases {
            json.key(state.name)
            json.integer(Int64(counters.timers[Int(state.rawValue)]))
        }
        json.endObject()
        let numbers: [(StaticString, Int)] = [
            ("fires", counters.fires.reduce(0, +)), ("events", counters.events.reduce(0, +)),
            ("streams", streamCount), ("pendingDeliveries", counters.pendingDeliveries),
            ("deadDeliveries", counters.deadDeliveries), ("idempotencyKeys", counters.idempotencyKeys),
            ("logBytes", service.logBytes),
            ("residentBytes", ProcessUsage.residentBytes()),
        ]
        for (name, value) in numbers {
            json.key(name)
            json.integer(Int64(value))
        }
        json.key("eventId")
        json.string(EventID.text(service.engine.shownHead))
        json.endObject()
        return json.bytes
    }
}
