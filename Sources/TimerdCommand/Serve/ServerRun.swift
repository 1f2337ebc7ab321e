import HTTPServer
import Logging
import PeerHTTP
import Platform
import PostgresLog
import TimerAPI
import TimerCluster
import TimerCore
import TimerForwarding
import TimerLog
import TimerService
import Webhooks

/// One run of the server, from opening its listeners to a clean stop.
struct ServerRun {
    let settings: SettingReader
    let configuration: ServeConfiguration
    private let unknownVariables: [String]
    let signals: Signals
    let logger: Logger
    let operatorLog: OperatorLog

    /// Makes a run; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - configuration: the values of `settings`, checked.
    ///   - unknownVariables: names to warn of.
    init(
        _ settings: SettingReader, _ configuration: ServeConfiguration, unknownVariables: [String], _ signals: Signals
    ) {
        self.settings = settings
        self.configuration = configuration
        self.signals = signals
        self.unknownVariables = unknownVariables
        logger = StderrLogHandler.logger(configuration.logFormat, level: configuration.logLevel)
        operatorLog = OperatorLog(logger)
    }

    /// Serves until a signal asks to stop; returns after a clean stop.
    func run() throws(Failure) {
        let recovery = Heartbeat(name: "recovery")
        let manager = try ServiceManager(settings.environment, logger)
        let limits = PeerLimits(streams: configuration.maximumStreams)
        let peers = configuration.clusterListener.map { PeerNetwork(listeningAt: $0, limits) }
        let audit = try openAuditLog()
        let server = try bind(peers, recovery, audit)
        let list = configuration.store.isDirectory ? ListenersFile(directory: configuration.dataDirectory) : nil
        let tls = configuration.tls
        let end: @Sendable () -> Void = {
            server.stop(drainSeconds: 0)
            list?.remove(server.boundAddresses, tls.value)
        }
        // Health probes must see that a long recovery makes progress.
        signals.recovering(end)
        server.start()
        manager.starting { recovery.silence <= LoopWatchdog.unhealthySeconds }
        let opened: Opened
        var isListed = true
        do throws(Failure) {
            opened = try open(recovery) { isListed = list?.write(server.boundAddresses, tls.value) ?? true }
        } catch {
            end()
            throw error
        }
        let service = opened.service
        let bound = server.boundAddresses + [peers?.address].compactMap(\.self)
        service.refuseDeliveries(to: bound.compactMap(\.listener))
        service.start()
        signals.serving()
        let url = configuration.clusterURL ?? ClusterURL.of(server.boundAddresses)
        opened.join(url: url, peer: peers?.address.map { PeerURL.of($0, url: url) } ?? "", until: signals)
        // A server that refused the log at once ends without having served.
        if signals.failure == nil {
            server.serve(service, forwardingBy: opened.member.flatMap(forwarding))
            tell(of: server, peers)
            if let list, !isListed {
                logger.warning(
                    "the list of listeners could not be written; timerd health needs --server then",
                    metadata: ["file": "\(list.path)"])
            }
            manager.serving(
                isHealthy: { service.watchdog.stalledLoops.isEmpty }, isReady: { service.isWritable })
        }
        audit?.start()
        let certificate = CertificateReload(tls, logger) { next in
            server.replaceTLS(next.context)
            _ = list?.write(server.boundAddresses, next)
        }
        waitForStop(certificate) { reload in
            manager.reloading {
                audit?.reopen()
                reload.run()
            }
        }
        manager.stopping()
        let drainSeconds = opened.member?.retire(within: configuration.drainSeconds) ?? configuration.drainSeconds
        logger.info("stopping", metadata: ["drainSeconds": .stringConvertible(configuration.drainSeconds)])
        let drain = Thread(name: "drain") { service.drain(seconds: drainSeconds) }
        server.stop(drainSeconds: drainSeconds)
        drain.join()
        if let audit { finish(audit) }
        list?.remove(server.boundAddresses, tls.value)
        service.stop()
        opened.member?.leave(seconds: ClusterMember.leaveSeconds)
        logger.info("stopped")
        if let failure = signals.failure { throw failure }
    }

    /// Waits until a stop is asked for. Reloads when that is asked for, and looks at the files of the certificate meanwhile.
    private func waitForStop(_ certificate: CertificateReload, reload: (Reload) -> Void) {
        let settings = Reload(settings: settings, running: configuration, certificate: certificate, logger: logger)
        while true {
            switch signals.next(within: CertificateReload.pause) {
            case .stop: return
            case .reload: reload(settings)
            case nil: certificate.look()
            }
        }
    }

    /// Writes what an operator should know once the server serves, and prints the listeners.
    private func tell(of server: APIServer, _ peers: PeerNetwork?) {
        operatorLog.open()
        for name in unknownVariables {
            logger.warning("a variable looks like a setting and is none", metadata: ["variable": "\(name)"])
        }
        let isOpen = configuration.access.value.tokens.isEmpty
        for address in server.boundAddresses where isOpen && !address.address.isLoopback {
            logger.warning(
                "whoever reaches this listener commands the timers: it is not loopback and there is no --token-file",
                metadata: ["listener": "\(address)"])
        }
        if let peer = peers?.address {
            logger.info("forwarded requests are taken", metadata: ["listener": "\(peer)"])
        }
        for address in server.boundAddresses { Console.out("timerd listening on \(address)") }
    }

    /// How requests are forwarded to the owner of the timers; nil where this server has no address for the others.
    private func forwarding(_ member: ClusterMember) -> Forwarding? {
        configuration.clusterTokens.first.map { token in
            Forwarding(by: member.routeWatch, token: token) { [operatorLog] in
                operatorLog.logThrottled("another server does not take this one's --cluster-token-file", "401")
            }
        }
    }

    private func openAuditLog() throws(Failure) -> AuditLog? {
        guard let path = configuration.auditLog else { return nil }
        do throws(AppendedFile.Fault) {
            return try AuditLog(path) { [operatorLog] reason in
                operatorLog.logThrottled("the audit log takes no lines; they wait, and are dropped in the end", reason)
            }
        } catch {
            throw Failure(.unusable, "--audit-log \(path): \(error)")
        }
    }

    /// Ends the audit log, once no more requests come.
    private func finish(_ audit: AuditLog) {
        let unwritten = audit.stop()
        guard unwritten > 0 else { return }
        logger.error("the audit log lacks its last lines", metadata: ["lines": .stringConvertible(unwritten)])
    }

    private func bind(_ peers: PeerNetwork?, _ recovery: Heartbeat, _ audit: AuditLog?) throws(Failure) -> APIServer {
        var api = APIConfiguration(listeners: configuration.listeners, access: configuration.access)
        api.passedSockets = configuration.passedSockets
        api.tls = configuration.tls.value?.context
        api.guests = peers
        api.peerTokens = configuration.clusterTokens
        api.ioThreads = configuration.ioThreads
        api.maximumStreams = configuration.maximumStreams
        api.maximumConnections = configuration.maximumConnections
        api.maximumConnectionsPerAddress = configuration.maximumConnectionsPerAddress
        api.idleMilliseconds = configuration.idleMilliseconds
        api.heartbeatMilliseconds = configuration.heartbeatMilliseconds
        api.allowedHosts = configuration.allowedHosts
        api.hostRefused = { [logger] name in
            logger.warning(
                "requests are refused for their Host; --allow-host allows a name", metadata: ["host": "\(name)"])
        }
        api.version = Release.version
        api.accessLog = operatorLog.request
        api.audit = audit?.trail
        do throws(ListenError) {
            return try APIServer(api, recovery: recovery)
        } catch {
            throw Failure(.unusable, error.description)
        }
    }
}

/// The part of a run that opens the store of its timers.
extension ServerRun {
    /// A service, and its part in a cluster if the store is shared.
    struct Opened {
        let service: TimerService
        var member: ClusterMember?
        var address: PostgresAddress?

        /// Joins the cluster, if there is one, and waits until it is known which server owns the log, or until a
        /// signal asks to stop.
        func join(url: String, peer: String, until signals: Signals) {
            guard let member, let address else { return }
            member.join(service, at: url, peer: peer, address)
            member.waitUntilSettled { signals.isAskedToStop }
        }
    }

    /// Reads the log, or connects to the database of a cluster.
    ///
    /// - Parameter claimed: called once this server has the lock of the data directory.
    func open(_ recovery: Heartbeat, claimed: () -> Void) throws(Failure) -> Opened {
        do throws(StoreError) {
            switch configuration.store {
            case .sqlite:
                let store = SQLiteLogStore(directory: configuration.dataDirectory)
                try store.claim()
                claimed()
                let service = try service(store, recovery)
                try configuration.check(keys: service.access.ring.value ?? KeyRing())
                return Opened(service: service)
            case .memory: return Opened(service: try service(MemoryLogStore(), recovery))
            case .postgres(let address): return try open(address, recovery)
            }
        } catch {
            throw Failure(error, directory: configuration.store.isDirectory ? configuration.dataDirectory : "--store")
        }
    }

    private func service(
        _ store: any LogStore, member: ClusterMember? = nil, _ recovery: Heartbeat,
        report: (@Sendable (ServiceEvent) -> Void)? = nil
    ) throws(StoreError) -> TimerService {
        try TimerService(
            store: store, place: member, standby: configuration.standby, configuration: configuration.engine,
            alarm: configuration.alarm.make(), recovery: recovery,
            sending: DeliverySending(version: Release.version, event: WebhookEvents.event(_:_:for:)),
            report: report ?? operatorLog.report)
    }

    private func open(_ address: PostgresAddress, _ recovery: Heartbeat) throws(StoreError) -> Opened {
        let store = try connect(to: address, recovery)
        let member = ClusterMember(
            store, moved: recovery.beat, checkingKeys: checkKeys,
            tell: { [operatorLog, signals] event in
                // A refusal of the log's keys was reported already, and ends the process: nothing is tried again.
                if case .adoptionFailed = event, signals.failure != nil { return }
                operatorLog.reportCluster(event)
                guard case .formatTooNew(let format) = event else { return }
                let newer = "the log has format \(format), written by a newer timerd"
                signals.stop(
                    for: Failure(.unusable, "--store: \(newer); this one reads up to \(BatchHeader.format)"))
            })
        let log = operatorLog.report
        let service = try service(store, member: member, recovery) { [weak member] event in
            if case .rowsLost(_, isOwner: true, isAccepted: false) = event { member?.awaitAcceptance(address) }
            log(event)
        }
        return Opened(service: service, member: member, address: address)
    }

    /// A check of the access keys of a log that this server took: where they can't be served, it ends the process.
    private var checkKeys: @Sendable (KeyRing) throws(StoreError) -> Void {
        { [configuration, signals, logger] (keys) throws(StoreError) in
            do throws(StoreError) { try configuration.check(keys: keys) } catch {
                logger.error("the log is not served, and the server ends", metadata: ["reason": "\(error)"])
                signals.stop(for: Failure(error, directory: "--store"))
                throw error
            }
        }
    }

    /// Connects to a database; waits while it can't be reached.
    private func connect(to address: PostgresAddress, _ recovery: Heartbeat) throws(StoreError) -> PostgresLogStore {
        while true {
            recovery.beat()
            do throws(StoreError) {
                if configuration.migrates { _ = try PostgresSchema.migrate(address) }
                let store = try PostgresLogStore(address, session: ClusterMember.newSession()) { [logger] warning in
                    logger.warning("\(warning)")
                }
                try PostgresSchema.checkRights(address)
                return store
            } catch {
                guard error.kind == .unavailable || error.kind == .io else { throw error }
                operatorLog.logThrottled("the database can't be reached; it is tried again", "\(error)")
                _ = Guarded(()).wait(nanoseconds: Self.connectPause) { _ in nil as Void? }
            }
        }
    }

    /// Nanoseconds between two attempts to connect.
    private static let connectPause: Int64 = 500_000_000
}

extension BoundAddress {
    /// The listener's address, which webhooks must not reach; nil for a Unix socket.
    fileprivate var listener: AddressPolicy.Listener? {
        guard case .tcp(let host, let port, _) = address else { return nil }
        return IPAddress(host == "localhost" ? "127.0.0.1" : host).map {
            AddressPolicy.Listener(address: $0, port: port)
        }
    }
}
