public import Platform
import Synchronization
public import TimerCore
public import TimerLog
public import Webhooks

/// The service without its network face: the log opened and folded, and the threads that fire, commit, replay, compact
/// and watch.
public final class TimerService: Sendable {
    let volume: any LogVolume
    /// The partitions that this process owns.
    public let partitions: Published<PartitionMap>
    /// The newest rows of all partitions in one order, for streams.
    public let feed: EventFeed
    /// Older rows.
    public let replayer: Replayer
    /// Watches the loops.
    public let watchdog: LoopWatchdog
    /// Hashes for keys made outside of the locks: one secret for all partitions, fixed for the life of the volume.
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

    /// Opens `store`, the log of a single server, and folds what it holds.
    ///
    /// - Parameters:
    ///   - recovery: beats while the log is opened and folded.
    ///   - sending: how events are sent to webhooks; nil: they wait.
    ///   - report: hears what an operator should; any thread.
    /// - Throws: when the store can't be used, or what it holds is damaged or names a time zone that is not there.
    public convenience init(
        store: any LogStore, configuration: EngineConfiguration, alarm: any Alarm = TimerFDAlarm(),
        timeSource: any TimeSource = SystemTime(), recovery: Heartbeat = Heartbeat(name: "recovery"),
        sending: DeliverySending? = nil,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) throws(StoreError) {
        try self.init(
            volume: SingleLogVolume(store), configuration: configuration, alarm: alarm, timeSource: timeSource,
            recovery: recovery, sending: sending, report: report)
    }

    /// Opens the logs of partitions of `volume` and folds what they hold; see the other `init`.
    ///
    /// - Parameters:
    ///   - numbers: of the partitions that this process owns from its start on; nil: all.
    ///   - place: among the processes that share the volume; nil where this one is alone.
    public init(
        volume: any LogVolume, owning numbers: [Int]? = nil, place: (any ClusterPlace)? = nil,
        configuration: EngineConfiguration,
        alarm: any Alarm = TimerFDAlarm(),
        timeSource: any TimeSource = SystemTime(), recovery: Heartbeat = Heartbeat(name: "recovery"),
        sending: DeliverySending? = nil,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) throws(StoreError) {
        let started = Clocks.monotonic()
        self.volume = volume
        self.configuration = configuration
        self.place = place
        shared = SharedParts(
            configuration, partitions: volume.layout.count, alarm: alarm, timeSource: timeSource,
            lease: place?.lease)
        var owned: [Partition] = []
        var records = 0
        for number in numbers ?? Array(0..<volume.layout.count) {
            let log = try RecoveredLog.recover(
                volume.store(number), configuration, hashPrefix: volume.layout.hashPrefix(of: number), isAhead: true,
                moved: recovery.beat)
            records += log.records
            owned.append(
                Partition(
                    log, place: PartitionPlace(number, of: volume.layout), configuration: configuration, shared: shared,
                    isShared: volume.isShared, moved: recovery.beat, report: report))
        }
        partitions = Published(PartitionMap(volume.layout, owned))
        siphash = SipHash(secret: volume.secret ?? owned.first?.secret ?? [])
        // What the fold needed in passing lies between what stays.
        ProcessUsage.trimMemory()
        feed = EventFeed(partitions, onlyWhole: place != nil)
        replayer = Replayer(feed, in: volume)
        watchdog = LoopWatchdog(report: report)
        let committer = Committer(
            volume, partitions, shared.bell, durability: configuration.durability, lease: place?.lease)
        let compactor = Compactor(partitions, report: report)
        (self.committer, self.compactor) = (committer, compactor)
        committer.onGrowth = { [weak compactor] in compactor?.nudge() }
        let heart = Heartbeat(name: "fire")
        watchdog.watch(heart)
        let fireLoop = FireLoop(partitions, shared, heart: heart, report: report)
        let published = partitions
        dispatcher = sending.map { Dispatcher(published, configuration.deliveries, $0, report: report) }
        gate = ChangeGate(partitions)
        var workers: [any Worker] = [committer, replayer, compactor, watchdog, gate, fireLoop]
        if let dispatcher { workers.append(dispatcher) }
        self.workers = WorkerGroup(workers)
        self.report = report
        for partition in owned { try partition.checkZones() }
        // A crash may have cut a drain between two partitions.
        if owned.contains(where: \.engine.isDrainedNow) { for partition in owned { partition.engine.joinDrain() } }
        let timers = owned.reduce(0) { $0 + $1.engine.timerCount }
        report(.recovered(timers: timers, records: records, seconds: Double(Clocks.monotonic() - started) / 1e9))
    }

    /// Starts the threads.
    public func start() {
        for partition in partitions.value.all { dispatcher?.watch(partition) }
        workers.start()
    }

    /// How often logs were found to have lost rows that their storage had promised to keep.
    public var losses: Int { partitions.value.all.reduce(0) { $0 + $1.losses.load(ordering: .relaxed) } }

    /// Accepts that logs have lost rows that their storage had promised to keep: their timers change and fire again.
    public func acceptLoss() {
        for partition in partitions.value.all {
            partition.acceptsLoss.store(true, ordering: .releasing)
            partition.callCommitter()
        }
    }

    /// Has `body` called with the number of each partition that another process is found to have taken; it drops it then.
    /// Before `start`.
    public func onFenced(_ body: @escaping @Sendable (Int) -> Void) { committer.onFenced = body }

    /// Notes what the server listens on, where no webhook may go.
    public func refuseDeliveries(to listeners: [AddressPolicy.Listener]) { dispatcher?.refuse(listeners) }

    /// Begins no further deliveries, and waits up to `seconds` for those under way.
    public func drain(seconds: Double) { workers.drain(seconds: seconds) }

    /// Refuses further changes; what was taken is still committed.
    func refuseChanges() { gate.stop() }

    /// Stops the threads, the committer last: everything taken is on disk afterwards.
    public func stop() {
        workers.stop()
        volume.close()
    }

    /// What the engines of all partitions have counted since the start, or since they were adopted: sums, and the greatest of
    /// what is a maximum.
    public func snapshotCounters() -> EngineCounters { partitions.value.snapshotCounters() }

    /// Whether storage takes changes.
    public var isWritable: Bool { partitions.value.all.allSatisfy { $0.engine.takesChanges } }

    /// Whether this process may answer for timers.
    public var standing: Standing {
        guard let place else { return .serving }
        // A process that owns some of the partitions is taking the others, or is losing them.
        guard ownsAll else { return .standby(owner: place.owner) }
        return place.lease.isValid ? .serving : .leaseOver
    }

    /// Position beyond which the partitions of this process have promised nothing: their next owner may begin there. Nil where
    /// the process owns none.
    public var promisedAtMost: Int64? { partitions.value.all.map(\.engine.promisedAtMost).max() }

    /// Whether this process owns all partitions.
    public var ownsAll: Bool { partitions.value.isWhole }

    /// Where requests are answered while this process stands by; nil where that is not known.
    public var owner: String? { place?.owner }

    /// Whether fires, webhooks and changes are stopped: see `Turn.setDrained`.
    public var isDrained: Bool { partitions.value.all.contains { $0.engine.isDrainedNow } }

    /// Position up to which events of some partition are no longer kept.
    public var horizon: Int64 { partitions.value.horizon }

    /// Position of the oldest event from which on all are kept.
    public var oldestKept: Int64 { partitions.value.oldestKept }

    /// Tells an operator that a row of old events can't be shown.
    public func note(unreadable error: StoreError) { report(.eventsUnreadable(error)) }

    /// Bytes on the device.
    public var logBytes: Int { volume.bytesOnDisk() }
}
