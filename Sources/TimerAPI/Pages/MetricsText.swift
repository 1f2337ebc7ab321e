import HTTPServer
import Platform
import TimerCore
import TimerLog
import TimerService

/// The metrics in Prometheus' text format 0.0.4.
struct MetricsText {
    private(set) var text = ""

    /// Writes all metrics.
    init(_ context: APIContext) {
        let service = context.service
        head("timerd_build_info", "gauge", "Always 1; the label is the version.")
        text += "timerd_build_info{version=\"\(context.configuration.version)\"} 1\n"
        single("timerd_ready", "gauge", "1 while /readyz is 200, else 0.", context.isReady ? 1 : 0)
        single(
            "timerd_storage_writable", "gauge",
            "1 while changes are taken, else 0: the disk refuses them, or the server stops.", service.isWritable ? 1 : 0
        )
        single(
            "timerd_drained", "gauge", "1 while an operator keeps the server drained, else 0.",
            service.isDrained ? 1 : 0)
        writeCluster(service)
        if let expiry = context.certificateExpiry {
            single(
                "timerd_tls_certificate_expiry_seconds", "gauge",
                "When the certificate of the TLS listeners expires, in seconds since 1970.", Double(expiry))
        }
        if let desks = context.desks {
            labelled(
                "timerd_forwarded_total", "counter", "Requests that other servers were to answer, by outcome.",
                "outcome",
                desks.counts.map { ($0.outcome, $0.count) })
        }
        let counters = service.snapshotCounters()
        labelled(
            "timerd_timers", "gauge", "Timers by state.", "state",
            TimerState.allCases.map {
                ("\($0.name)", counters.timers[Int($0.rawValue)])
            })
        single("timerd_watchdogs_stalled", "gauge", "Watchdogs that alarm now.", Double(counters.alarmingWatchdogs))
        let reasons: [EventReason] = [.due, .manual, .stalled, .misfire, .resumed]
        labelled(
            "timerd_fires_total", "counter", "Fires by reason.", "reason",
            reasons.map {
                ("\($0.name)", counters.fires[Int($0.rawValue)])
            })
        histogram("timerd_fire_lateness_seconds", "How late fires were.", [("", [counters.lateness])])
        single(
            "timerd_overdue_seconds", "gauge", "Age of the oldest due instant that has not fired.",
            Double(counters.overdueMilliseconds) / 1000)
        histogram("timerd_commit_seconds", "How long commits took.", [("", [counters.commitSeconds])])
        histogram("timerd_commit_records", "Records in a commit.", [("", [counters.commitRecords])])
        writeHolds(counters)
        writeRequests(context)
        single("timerd_streams", "gauge", "Streams and long polls open.", Double(context.streamCount))
        labelled(
            "timerd_events_total", "counter", "Events by type.", "type",
            EventType.allCases.map {
                ("\($0.name)", counters.events[Int($0.rawValue)])
            })
        writeDeliveries(counters)
        single(
            "timerd_wakeups_total", "counter", "Times the fire loop woke for something due.", Double(counters.wakeups))
        single(
            "timerd_loop_stall_seconds", "gauge", "The longest that any loop stood still within the last minute.",
            service.watchdog.longestStall)
        single("timerd_log_bytes", "gauge", "Bytes of the log on the device.", Double(service.logBytes))
        single(
            "process_resident_memory_bytes", "gauge", "Bytes of memory resident.", Double(ProcessUsage.residentBytes()))
        single(
            "process_cpu_seconds_total", "counter", "Processor time used, in seconds.", ProcessUsage.cpuSeconds())
        single(
            "process_start_time_seconds", "gauge", "When the process started, in seconds since 1970.",
            context.processStart)
        single("process_open_fds", "gauge", "Descriptors open.", Double(ProcessUsage.openDescriptors()))
        if let most = ProcessUsage.maxDescriptors() {
            single("process_max_fds", "gauge", "Descriptors that the process may open.", Double(most))
        }
    }

    private mutating func head(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    private mutating func single(_ name: String, _ type: String, _ help: String, _ value: Double) {
        head(name, type, help)
        text += "\(name) \(Self.number(value))\n"
    }

    private mutating func labelled(
        _ name: String, _ type: String, _ help: String, _ label: String, _ values: [(String, Int)]
    ) {
        head(name, type, help)
        for (value, count) in values { text += "\(name){\(label)=\"\(value)\"} \(count)\n" }
    }

    /// - Parameter series: the series, each the sum of several histograms with the same bounds, such
    ///   as one of each loop.
    private mutating func histogram(
        _ name: String, _ help: String, _ series: [(labels: String, parts: [Histogram])]
    ) {
        head(name, "histogram", help)
        for (labels, parts) in series {
            let bounds = parts.first?.bounds ?? []
            var total = 0
            let separator = labels.isEmpty ? "" : ","
            for index in 0...bounds.count {
                total += parts.reduce(0) { $0 + $1.counts[index] }
                let bound = index < bounds.count ? Self.number(bounds[index]) : "+Inf"
                text += "\(name)_bucket{\(labels)\(separator)le=\"\(bound)\"} \(total)\n"
            }
            let braces = labels.isEmpty ? "" : "{\(labels)}"
            let sum = parts.reduce(0) { $0 + $1.sum }
            text += "\(name)_sum\(braces) \(sum)\n\(name)_count\(braces) \(total)\n"
        }
    }

    private mutating func writeCluster(_ service: TimerService) {
        guard let place = service.place else { return }
        single("timerd_owner", "gauge", "1 while this server owns the log, else 0.", service.ownsLog ? 1 : 0)
        single(
            "timerd_lease_seconds", "gauge", "For how long this server may answer without word from the database.",
            Double(max(0, place.lease.remaining)) / 1e9)
        single(
            "timerd_takeovers_total", "counter", "Times that this server has taken the log.", Double(place.takeovers))
        single(
            "timerd_rows_lost_total", "counter", "Times that the database had lost rows of the log.",
            Double(service.losses))
        single(
            "timerd_fenced_total", "counter", "Times that the log was taken from this server.", Double(place.fenced))
        let map = place.map
        single(
            "timerd_standbys_fit", "gauge", "Servers to which the owner of the log can hand it over.",
            Double(map?.fitStandbys ?? 0))
        guard let progress = service.standbyProgress else { return }
        writeStandby(progress, map?.own?.unread)
    }

    private mutating func writeStandby(_ progress: StandbyProgress, _ unread: UnreadRows?) {
        single(
            "timerd_standby_warm", "gauge",
            "1 while this standby has the timers in memory, 0 while it reads the log from its start.",
            progress.isWhole ? 1 : 0)
        if let unread {
            single(
                "timerd_standby_lag_rows", "gauge",
                "Rows of the log, \(UnreadRows.most) at most, that this standby had not read at its last beat.",
                Double(unread.count))
            single(
                "timerd_standby_lag_bytes", "gauge", "Bytes that the database stores for these rows.",
                Double(unread.bytes))
        }
        single(
            "timerd_standby_lag_seconds", "gauge",
            "For how long this standby has known of a change that it has not read.",
            progress.lagSeconds)
        head(
            "timerd_standby_reread_total", "counter",
            "Times that this standby began to read the log from its start again.")
        for cause in StandbyBreak.allCases {
            text += "timerd_standby_reread_total{cause=\"\(cause.rawValue)\"} \(progress.breaks[cause] ?? 0)\n"
        }
    }

    private mutating func writeHolds(_ counters: EngineCounters) {
        histogram(
            "timerd_lock_hold_seconds", "Processor time that a hold of the engine's lock took, of one hold in 64.",
            [("", [counters.holdSeconds])])
        guard !counters.longestHolds.isEmpty else { return }
        single(
            "timerd_lock_hold_changes_max", "gauge",
            "The most that commands of one hold cost, in changes of small timers.",
            Double(counters.mostChangesPerTurn))
        head(
            "timerd_lock_hold_longest_seconds", "gauge",
            "The longest hold of the engine's lock by its cause, in processor time, and how long it took by the clock.")
        for cause in HoldCause.allCases {
            let hold = counters.longestHolds[cause.rawValue]
            let name = "timerd_lock_hold_longest_seconds{cause=\"\(cause.name)\""
            text += "\(name),time=\"cpu\"} \(hold.cpuSeconds)\n\(name),time=\"wall\"} \(hold.wallSeconds)\n"
        }
    }

    private mutating func writeDeliveries(_ counters: EngineCounters) {
        labelled(
            "timerd_webhook_attempts_total", "counter", "Webhook attempts by outcome.", "outcome",
            EngineCounters.AttemptKind.allCases.map { ("\($0.name)", counters.attempts[$0.rawValue]) })
        labelled(
            "timerd_webhook_commands_total", "counter", "Commands in receivers' answers.", "outcome",
            [
                ("applied", counters.commandsApplied), ("illegal", counters.commandsRefused),
                ("ignored", counters.commandsIgnored),
            ])
        histogram(
            "timerd_webhook_delivery_seconds", "From a fire to the 2xx of its webhook.",
            [("", [counters.deliverySeconds])])
        single(
            "timerd_webhook_pending", "gauge", "Webhook deliveries that are not done.",
            Double(counters.pendingDeliveries))
        single("timerd_webhook_dead", "gauge", "Dead letters kept.", Double(counters.deadDeliveries))
    }

    private mutating func writeRequests(_ context: APIContext) {
        let snapshots = context.metrics.map { $0.snapshot() }
        var requests: [HTTPMetrics.Key: Int] = [:]
        for snapshot in snapshots { requests.merge(snapshot.requests, uniquingKeysWith: +) }
        head("timerd_http_requests_total", "counter", "Requests answered.")
        let ordered = requests.sorted {
            (HTTPMetrics.place($0.key.route), $0.key.method, $0.key.code)
                < (HTTPMetrics.place($1.key.route), $1.key.method, $1.key.code)
        }
        for (key, count) in ordered {
            let route = HTTPMetrics.label(key.route)
            text += "timerd_http_requests_total{route=\"\(route)\",method=\"\(key.method)\",code=\"\(key.code)\"}"
            text += " \(count)\n"
        }
        var series: [(String, [Histogram])] = []
        for route in Route.allCases.map(Optional.init) + [nil] {
            let place = HTTPMetrics.place(route)
            let parts = snapshots.map { $0.seconds[place] }
            guard parts.contains(where: { $0.counts.contains { $0 > 0 } }) else { continue }
            series.append(("route=\"\(HTTPMetrics.label(route))\"", parts))
        }
        histogram("timerd_http_request_seconds", "Time from a request's head to its answer.", series)
        if let audit = context.configuration.audit {
            single(
                "timerd_audit_dropped_total", "counter", "Lines of the audit log that were dropped.",
                Double(audit.dropped()))
        }
    }
}
