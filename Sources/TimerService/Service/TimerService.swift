public import Platform
import Synchronization
public import TimerCore
public import TimerLog
public import Webhooks

/// The service without its network part: the log opened and folded, and the threads that fire, commit, replay,
/// compact and watch.
public final class TimerService: Sendable {
    let store: any LogStore
    /// The log that this process writes; nil where another process owns it, or none does.
    public let log: Published<ActiveLog?>
    /// The newest rows, for streams.
    public let feed: EventFeed
    /// The reader of older rows.
    public let replayer: Replayer
    /// The watchdog of the loops.
    public let watchdog: LoopWatchdog
    /// The hash function for keys made outside of the locks; fixed for the life of the log.
    public let siphash: SipHash
    let configuration: EngineConfiguration
    let shared: SharedParts
    let gate: ChangeGate
    let committer: Committer
    let compactor: Compactor
    let dispatcher: Dispatcher?
    private let workers: WorkerGroup
    let report: @Sendable (ServiceEvent) -> Void
    /// This process's place among those that share the storage; nil where it is alone.
    public let place: (any ClusterPlace)?

    /// Opens `store` and folds its log; among several processes nothing is opened before `adopt`.
    ///
    /// - Parameters:
    ///   - place: the process's place among those that share the storage; nil where it is alone.
    ///   - recovery: the heartbeat that beats while the log is opened and folded.
    ///   - sending: how events are sent to webhooks; nil: deliveries wait.
    ///   - report: takes the events that an operator should know of; called on any thread.
    /// - Throws: when the store can't be used, or its log is damaged or names a time zone that is not there.
    public init(
        store: any LogStore, place: (any ClusterPlace)? = nil, configuration: EngineConfiguration,
        alarm: any Alarm = TimerFDAlarm(), timeSource: any TimeSource = SystemTime(),
        recovery: Heartbeat = Heartbeat(name: "recovery"), sending: DeliverySending? = nil,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) throws(StoreError) {
        let started = Clocks.monotonic()
        self.store = store
        self.configuration = configuration
        self.place = place
        shared = SharedParts(alarm: alarm, timeSource: timeSource, lease: place?.lease)
        var active: ActiveLog?
        var records = 0
        if place == nil {
            let recovered = try RecoveredLog.recover(store, configuration, isAhead: true, moved: recovery.beat)
            records = recovered.records
            active = ActiveLog(
                recovered, configuration: configuration, shared: shared, moved: recovery.beat, report: report)
            // Memory that only the fold needed lies scattered among what stays.
            ProcessUsage.trimMemory()
        }
        log = Published(active)
        siphash = SipHash(secret: active?.secret ?? store.secret ?? [])
        feed = EventFeed(log)
        replayer = Replayer(log)
        watchdog = LoopWatchdog(report: report)
        let committer = Committer(log, shared.bell, durability: configuration.durability, lease: place?.lease)
        let compactor = Compactor(log, report: report)
        (self.committer, self.compactor) = (committer, compactor)
        committer.onGrowth = { [weak compactor] in compactor?.nudge() }
        let heart = Heartbeat(name: "fire")
        watchdog.watch(heart)
        let fireLoop = FireLoop(log, alarm, heart: heart, report: report)
        let published = log
        dispatcher = sending.map { Dispatcher(published, configuration.deliveries, $0, report: report) }
        gate = ChangeGate(log)
        var workers: [any Worker] = [committer, replayer, compactor, watchdog, gate, fireLoop]
        if let dispatcher { workers.append(dispatcher) }
        self.workers = WorkerGroup(workers)
        self.report = report
        guard let active else { return }
        try active.checkZones()
        report(
            .recovered(
                timers: active.engine.timerCount, records: records,
                seconds: Double(Clocks.monotonic() - started) / 1e9))
    }

    /// Starts the threads.
    public func start() {
        if let active = log.value { dispatcher?.watch(active) }
        workers.start()
    }

    /// How often the log was found to have lost rows that its storage had promised to keep.
    public var losses: Int { log.value?.losses.load(ordering: .relaxed) ?? 0 }

    /// Accepts that the log has lost rows that its storage had promised to keep: its timers change and fire again.
    public func acceptLoss() {
        guard let active = log.value else { return }
        active.acceptsLoss.store(true, ordering: .releasing)
        active.callCommitter()
    }

    /// Sets the function that is called when another process is found to own the log, and that makes this one drop
    /// it. Called before `start`.
    public func onFenced(_ body: @escaping @Sendable () -> Void) { committer.onFenced = body }

    /// Notes the server's own listeners, to which no webhook may go.
    public func refuseDeliveries(to listeners: [AddressPolicy.Listener]) { dispatcher?.refuse(listeners) }

    /// Begins no further deliveries, and waits up to `seconds` for those under way.
    public func drain(seconds: Double) { workers.drain(seconds: seconds) }

    /// Refuses further changes; changes that were taken are still committed.
    func refuseChanges() { gate.stop() }

    /// Stops the threads, the committer last: everything taken is on disk afterwards.
    public func stop() {
        workers.stop()
        store.close()
    }

    /// Returns the engine's counters since the start, or since the log was adopted; zeros where this process owns
    /// no log.
    public func snapshotCounters() -> EngineCounters { log.value?.engine.snapshotCounters() ?? EngineCounters() }

    /// Whether storage takes changes.
    public var isWritable: Bool { log.value?.engine.takesChanges ?? true }

    /// Whether this process may answer for timers.
    public var role: ServerRole {
        guard let place else { return .serving }
        guard ownsLog else { return .standby(owner: place.owner) }
        return place.lease.isValid ? .serving : .leaseOver
    }

    /// Position beyond which this process has given and shown nothing, so that the next owner of the log may begin
    /// there; nil where the process does not own the log.
    public var claimedThrough: Int64? { log.value?.engine.claimedThrough }

    /// Whether this process owns the log.
    public var ownsLog: Bool { log.value != nil }

    /// The address where requests are answered while this process is a standby; nil where it is not known.
    public var owner: String? { place?.owner }

    /// Whether fires, webhooks and changes are stopped: see `Turn.setDrained`.
    public var isDrained: Bool { log.value?.engine.isDrainedNow ?? false }

    /// Position up to which events are no longer kept; 0 where this process owns no log.
    public var horizon: Int64 { log.value?.horizon ?? 0 }

    /// Position of the oldest event that may be kept.
    public var oldestKept: Int64 { log.value?.oldestKept ?? 1 }

    /// Reports to an operator that a row of old events can't be shown.
    public func note(unreadable error: StoreError) { report(.eventsUnreadable(error)) }

    /// The bytes of the log on the device.
    public var logBytes: Int { store.bytesOnDisk() }
}
