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
    /// The reader of the log while another process owns it; nil where the process is alone, or a cold standby.
    let standby: Standby?
    private let workers: WorkerGroup
    /// Whether requests are for the next owner of the log, as this process ends it.
    let isReleasing = Atomic<Bool>(false)
    /// The requests of several steps that have taken one and have more to take.
    public let runs = RunCount()
    /// The streams that are read to an end, and have not come to it.
    public let histories = RunCount()
    let report: @Sendable (ServiceEvent) -> Void
    /// This process's place among those that share the storage; nil where it is alone.
    public let place: (any ClusterPlace)?

    /// Opens `store` and folds its log; among several processes nothing is opened before `adopt`.
    ///
    /// - Parameters:
    ///   - place: the process's place among those that share the storage; nil where it is alone.
    ///   - standby: whether the log is read while another process owns it.
    ///   - recovery: the heartbeat that beats while the log is opened and folded.
    ///   - sending: how events are sent to webhooks; nil: deliveries wait.
    ///   - report: takes the events that an operator should know of; called on any thread.
    /// - Throws: when the store can't be used, or its log is damaged or names a time zone that is not there.
    public init(
        store: any LogStore, place: (any ClusterPlace)? = nil, standby: StandbyKind = .cold,
        configuration: EngineConfiguration, alarm: any Alarm = TimerFDAlarm(),
        timeSource: any TimeSource = SystemTime(),
        recovery: Heartbeat = Heartbeat(name: "recovery"), sending: DeliverySending? = nil,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) throws(StoreError) {
        let started = Clocks.monotonic()
        self.store = store
        self.configuration = configuration
        self.place = place
        shared = SharedParts(
            alarm: alarm, timeSource: timeSource, lease: place?.lease, acceptsLosses: configuration.acceptsLosses)
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
        let committer = Committer(log, shared.bell, configuration, lease: place?.lease)
        let compactor = Compactor(log, report: report)
        (self.committer, self.compactor) = (committer, compactor)
        committer.onGrowth = { [weak compactor] in compactor?.nudge() }
        let heart = Heartbeat(name: "fire")
        watchdog.watch(heart)
        let fireLoop = FireLoop(log, alarm, heart: heart, report: report)
        let published = log
        dispatcher = sending.map { Dispatcher(published, configuration.deliveries, $0, report: report) }
        gate = ChangeGate(log)
        self.standby =
            place == nil || standby == .cold
            ? nil
            : store.secret.map { [losses = shared.losses] secret in
                Standby(store, secret: secret, configuration, losses: losses, report: report)
            }
        var workers: [any Worker] = [committer, replayer, compactor, watchdog, gate, fireLoop]
        if let standby = self.standby { workers.append(standby) }
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

    /// Commits what turns have recorded, if the committer was not woken for it yet: on the committer's thread or, where the
    /// caller may lead and that is the shorter way, on the calling one, which takes as long as an append.
    ///
    /// - Parameter amongMany: whether several clients use the thread, which may then have to wait for the append.
    public func commit(leads: Bool, amongMany: Bool = false) { committer.commit(leads: leads, amongMany: amongMany) }

    /// How often the storage was found to have lost rows that it had promised to keep.
    public var losses: Int { shared.losses.count }

    /// The newest loss of rows, for which the log is held, or would be if this process had it; nil where there is none.
    public var heldLoss: LostRows? { shared.losses.held }

    /// Accepts that the log has lost rows that its storage had promised to keep: its timers change and fire again. Does
    /// nothing where the log went on from a loss later.
    ///
    /// - Parameter end: position at which the log ended when an operator accepted what was lost. A log goes on above the
    ///   positions of lost rows, so what was lost later, or is found later, is told apart.
    public func acceptLoss(at end: Int64) {
        shared.losses.accept(at: end)
        log.value?.callCommitter()
    }

    /// Sets the function that is called when another process is found to own the log, and that makes this one drop
    /// it. Called before `start`.
    public func onFenced(_ body: @escaping @Sendable () -> Void) { committer.onFenced = body }

    /// Notes the server's own listeners, to which no webhook may go.
    public func refuseDeliveries(to listeners: [AddressPolicy.Listener]) { dispatcher?.refuse(listeners) }

    /// Sends a test to a webhook: at once, or never. Its `ended` is called in any case.
    public func test(_ test: WebhookTest) {
        guard let dispatcher else { return test.ended(.stopping) }
        dispatcher.test(test)
    }

    /// Begins no further deliveries, and waits up to `seconds` for those under way.
    public func drain(seconds: Double) { workers.drain(seconds: seconds) }

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
        guard let lease = shared.lease else { return .serving }
        guard ownsLog else { return .standby(owner: owner) }
        guard lease.isValid else { return .leaseOver }
        return isReleasing.load(ordering: .acquiring) ? .standby(owner: owner) : .serving
    }

    /// Position beyond which this process has given and shown nothing, so that the next owner of the log may begin
    /// there; nil where the process does not own the log.
    public var claimedThrough: Int64? { log.value?.engine.claimedThrough }

    /// Whether this process owns the log.
    public var ownsLog: Bool { log.value != nil }

    /// How far this process has read the log of another one; nil where it does not read it.
    public var standbyProgress: StandbyProgress? { ownsLog ? nil : standby?.progress }

    /// How much of the log this process holds in memory.
    public var memory: LogMemory {
        if let log = log.value { return .through(log.engine.durableHead) }
        guard let progress = standby?.progress else { return .cold }
        return progress.isWhole ? .through(progress.head) : .warming
    }

    /// Notes where the log of another process ends, so that a standby reads on. May be called on any thread.
    ///
    /// - Parameter shown: position through which that process may have shown the log; nil where it is not known.
    public func read(through end: Int64, shown: Int64? = nil) { standby?.read(through: end, shown: shown) }

    /// The address where requests are answered while this process is a standby; nil where it is not known.
    public var owner: String? { place?.owner }

    /// Whether fires, webhooks and changes are stopped: see `Turn.setDrained`.
    public var isDrained: Bool { log.value?.engine.isDrainedNow ?? false }

    /// Position up to which events are no longer kept; 0 where this process owns no log.
    public var horizon: Int64 { log.value?.horizon ?? 0 }

    /// Position of the oldest event that may be kept.
    public var oldestKept: Int64 { log.value?.oldestKept ?? 1 }

    /// The access keys of the log, and their uses.
    public var access: SharedAccess { shared.access }

    /// Reports to an operator that a row of old events can't be shown.
    public func note(unreadable error: StoreError) { report(.eventsUnreadable(error)) }

    /// The bytes of the log on the device.
    public var logBytes: Int { store.bytesOnDisk() }
}

/// The number of requests of one kind that are under way. May be used on any thread.
public final class RunCount: Sendable {
    private let count = Atomic<Int>(0)

    /// Counts one more.
    public func begin() { count.add(1, ordering: .relaxed) }

    /// Counts one less.
    public func end() { count.subtract(1, ordering: .releasing) }

    /// Whether there is none.
    var isZero: Bool { count.load(ordering: .acquiring) == 0 }
}

/// Whether a process may answer for timers.
public enum ServerRole: Sendable, Equatable {
    /// The process may: it owns the log.
    case serving
    /// The process owns the log, but can't prove now that nobody has taken it.
    case leaseOver
    /// The process does not own the log; `owner` is the address of the process that does, where it is known.
    case standby(owner: String?)
}

/// The parts that an engine shares with the threads around it, and with the earlier engines of the process.
final class SharedParts: Sendable {
    /// The alarm that wakes the fire loop.
    let alarm: any Alarm
    /// The loops that read sockets.
    let sockets = SocketReaders()
    /// The positions that dropped engines gave out and had not shown yet.
    let unknownPositions = UnknownPositions()
    /// The bell that wakes the committer.
    let bell: CommitBell
    let timeSource: any TimeSource
    /// The access keys of the log, as the threads around the engine see them.
    let access = SharedAccess()
    /// The lease under which an engine's state may be shown; nil where it always may be.
    let lease: Lease?
    /// The rows that the storage has lost.
    let losses: LossRegister

    /// - Parameters:
    ///   - lease: the lease under which an engine's state may be shown; nil where it always may be.
    ///   - acceptsLosses: whether no operator has to accept that the storage has lost rows.
    init(
        alarm: any Alarm, timeSource: any TimeSource, lease: Lease? = nil, acceptsLosses: Bool = false,
        bell: CommitBell = CommitBell()
    ) {
        self.alarm = alarm
        losses = LossRegister(acceptsAll: acceptsLosses)
        self.timeSource = timeSource
        self.lease = lease
        self.bell = bell
    }

    /// Adds a loop that reads sockets, where kicks may wait.
    ///
    /// - Parameter ask: asks the loop to report once it has read its sockets; called under an engine's lock.
    func addReader(ask: @escaping @Sendable () -> Void) -> SocketReader {
        let reader = SocketReader(ask: ask) { [alarm] in alarm.ring() }
        sockets.add(reader)
        return reader
    }
}

/// The gate that admits and dismisses the log, and refuses further changes once the service stops. The gate has no
/// thread: its place among the workers decides when it shuts.
final class ChangeGate: Worker {
    let name = "gate"
    let threadCount = 0
    private let log: Published<ActiveLog?>
    private let isShut = Guarded(false)

    /// - Parameter log: the place where an admitted log is published.
    init(_ log: Published<ActiveLog?>) { self.log = log }

    func run() {}

    /// Publishes `active`. Returns whether it was admitted: no log is once the service stops.
    func admit(_ active: ActiveLog) -> Bool {
        isShut.withLock { isShut in
            if !isShut { log.publish(active) }
            return !isShut
        }
    }

    /// Publishes that there is no log.
    func dismiss() { isShut.withLock { _ in log.publish(nil) } }

    /// Refuses further changes; changes that were taken are still committed.
    func stop() {
        isShut.withLock { isShut in
            isShut = true
            log.value?.engine.close()
        }
    }
}

/// The parts of a service that a process's I/O loops need, whoever owns the log.
extension TimerService {
    /// The time zones of cron schedules. May be read on any thread.
    public var zones: any ZoneSource { configuration.zones }

    /// Whether webhooks without a secret of their own are signed by one of the server's.
    public var signsByDefault: Bool { !configuration.deliveries.policy.value.secrets.isEmpty }

    /// Adds a loop that reads sockets, where kicks may wait.
    ///
    /// - Parameter ask: asks the loop to report once it has read its sockets; called under an engine's lock.
    public func addReader(ask: @escaping @Sendable () -> Void) -> SocketReader {
        shared.addReader(ask: ask)
    }
}
