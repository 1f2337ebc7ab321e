import Logging
import Platform
import PostgresLog
import TimerAPI
import TimerLog
import TimerService

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
                return Opened(service: try service(store, recovery))
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
            store: store, place: member, configuration: configuration.engine,
            alarm: configuration.alarm.make(), recovery: recovery,
            sending: DeliverySending(version: Release.version, event: WebhookEvents.event),
            report: report ?? operatorLog.report)
    }

    private func open(_ address: PostgresAddress, _ recovery: Heartbeat) throws(StoreError) -> Opened {
        let store = try connect(to: address, recovery)
        let member = ClusterMember(store, moved: recovery.beat, tell: operatorLog.reportCluster)
        let log = operatorLog.report
        let service = try service(store, member: member, recovery) { [weak member] event in
            log(event)
            if case .rowsLost = event { member?.awaitAcceptance(address) }
        }
        return Opened(service: service, member: member, address: address)
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
