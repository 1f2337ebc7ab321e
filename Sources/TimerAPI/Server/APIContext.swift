import HTTPServer
import Platform
import TimerCore
import TimerLog
import TimerService

/// The state that the handlers of all loops share.
final class APIContext: Sendable {
    let service: TimerService
    let configuration: APIConfiguration
    /// The maker of the desks for what another server answers; nil where this server forwards nothing.
    let desks: (any RequestDesks)?
    private let registered = Guarded<[HTTPMetrics]>([])
    private let refusedHosts: RefusedHosts
    /// The rows that the loops' streams decoded last.
    let newestRows: NewestRows
    /// The figures of the last hour.
    let history = StatsHistory(startedAt: Clocks.monotonic())
    private let startedAt = Clocks.monotonic()
    /// The time at which the process started, in seconds since 1970.
    let processStart = ProcessUsage.startSeconds()
    /// The server; unowned, since the handlers of its loops hold this context.
    private unowned let server: HTTPServer

    init(
        _ service: TimerService, _ configuration: APIConfiguration, _ desks: (any RequestDesks)?, _ server: HTTPServer
    ) {
        self.server = server
        self.service = service
        self.configuration = configuration
        self.desks = desks
        newestRows = NewestRows()
        refusedHosts = RefusedHosts { name in configuration.hostRefused?(name) }
    }

    /// Makes a gate to this server.
    func gate(tokens: [[UInt8]], keys: KeyRing?, serial: UInt64) -> Gate {
        Gate(
            server.boundAddresses, allowedHosts: configuration.allowedHosts, tokens: tokens, keys: keys,
            peerTokens: configuration.peerTokens, refusedHosts: refusedHosts, serial: serial)
    }

    /// Adds a loop's counts to those that `/metrics` shows.
    func add(_ metrics: HTTPMetrics) { registered.withLock { $0.append(metrics) } }

    /// The counts of every loop.
    var metrics: [HTTPMetrics] { registered.withLock { $0 } }

    /// The number of open streams and long polls.
    var streamCount: Int { server.streamCount }

    /// The instant at which the certificate of the listeners with TLS expires, in seconds since 1970; nil without TLS.
    var certificateExpiry: Int64? { server.certificateExpiry }

    /// Returns the page that the request asks for, if it is one that never changes, or a problem if it has a query;
    /// nil for any other request.
    func page(for ticket: Ticket) -> Outcome? {
        guard let page = unchangingPage(for: ticket) else { return nil }
        do throws(Problem) {
            try QueryReader(ticket.target).finish()
            return page
        } catch {
            return .problem(error)
        }
    }

    private func unchangingPage(for ticket: Ticket) -> Outcome? {
        switch ticket.route {
        case .dashboard: .html(Documents.dashboard)
        case .dashboardParts: .document(Documents.dashboardParts)
        case .reference: .html(Documents.reference)
        case .openAPI: .document(Documents.openAPI)
        case .openAPIJSON: .document(Documents.openAPIJSON)
        case .problem:
            if let kind = ProblemKind(slug: ticket.parameter) {
                .page(status: 200, type: "text/html; charset=utf-8", Pages.problem(kind))
            } else {
                .problem(Problem(.notFound, "there is no such problem"))
            }
        default: nil
        }
    }

    /// Returns the page that the request asks for, of those that show the server's present state.
    func dynamicPage(for ticket: Ticket) -> Outcome {
        switch ticket.route {
        case .healthz: return Pages.health(stalled: service.watchdog.stalledLoops)
        case .readyz: return Pages.readiness(readiness, owner: owner)
        case .metrics:
            return .page(
                status: 200, type: "text/plain; version=0.0.4; charset=utf-8", Array(MetricsText(self).text.utf8))
        case .stats: return stats()
        case .statsHistory: return history.page(for: ticket)
        case .cluster: return .page(status: 200, type: "application/json", ClusterJSON.text(service))
        default: preconditionFailure("static pages were answered before, and every other route has an operation")
        }
    }

    /// Whether `/readyz` is 200.
    var isReady: Bool { readiness == "ready" }

    private var readiness: String {
        if server.isDraining { return "draining" }
        switch service.role {
        case .standby where isTakingOver: return "taking-over"
        case .standby where service.standbyProgress?.isWarm == false: return "warming"
        case .standby: return desks?.knowsOwner ?? false ? "ready" : "standby"
        case .leaseOver: return "storage-unavailable"
        case .serving:
            if !service.isWritable { return "storage-unavailable" }
            return service.isDrained ? "drained" : "ready"
        }
    }

    /// Whether this process has taken the log, and still reads it.
    private var isTakingOver: Bool {
        guard !service.ownsLog, let map = service.place?.map else { return false }
        return map.owner?.session == map.session
    }

    /// The URL of the node that answers for the timers; nil if this one does, or if it is unknown.
    private var owner: String? { service.ownsLog ? nil : service.owner }

    /// Refuses a request about timers while the server answers none.
    func checkRole(_ ticket: Ticket) throws(Problem) {
        if !ticket.route.isAboutTimers { return }
        switch service.role {
        case .serving: return
        case .leaseOver: throw .leaseOver
        case .standby: throw elsewhere(ticket)
        }
    }

    /// Returns the refusal of a request that another server answers. A server that has forwarded the request here is
    /// made to look for that server again.
    func elsewhere(_ ticket: Ticket) -> Problem {
        ticket.exchange.isFromPeer ? .misdirectedByPeer : .elsewhere(owner: service.owner)
    }

    private func stats() -> Outcome {
        let uptime = (Clocks.monotonic() - startedAt) / 1_000_000
        return .object { StatsJSON.write(self, uptime: uptime, &$0) }
    }
}
