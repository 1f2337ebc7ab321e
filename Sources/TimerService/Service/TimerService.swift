public import Platform
import Synchronization
public import TimerCore
public import TimerLog
public import Webhooks

/// The service without its network face: the log opened and folded, and the threads that fire, commit, replay, compact
/// and watch.
public final class TimerService: Sendable {
    private let volume: any LogVolume
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
    private let gate: ChangeGate
    private let committer: Committer
    private let compactor: Compactor
    private let dispatcher: Dispatcher?
    private let workers: WorkerGroup
    private let report: @Sendable (ServiceEvent) -> Void
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
        replayer = Replayer(feed)
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

    /// Takes a further partition over: opens its log, folds it, and has all workers serve it. Returns once that is so.
    /// Others are served meanwhile. Any thread but the service's own, while the service runs.
    ///
    /// - Parameters:
    ///   - number: of a partition that this process does not own.
    ///   - moved: called now and then on the way.
    /// - Throws: as `init`, for this one partition.
    /// - Returns: the partition; nil where the service stops.
    @discardableResult
    public func adopt(_ number: Int, moved: () -> Void = {}) throws(StoreError) -> Partition? {
        let log = try RecoveredLog.recover(
            volume.store(number), configuration, hashPrefix: volume.layout.hashPrefix(of: number), isAhead: true,
            moved: moved)
        let partition = Partition(
            log, place: PartitionPlace(number, of: volume.layout), configuration: configuration, shared: shared,
            isShared: volume.isShared, moved: moved, report: report)
        do throws(StoreError) { try partition.checkZones() } catch {
            discard(partition)
            throw error
        }
        dispatcher?.watch(partition)
        feed.follow(partition)
        guard gate.admit(partition) else {
            discard(partition)
            return nil
        }
        // What was recorded before the committer knew of it.
        partition.callCommitter()
        let replanned = partition.engine.replanCron()
        if replanned > 0 { report(.timeZonesChanged(timers: replanned)) }
        partition.engine.callFireLoop()
        return partition
    }

    /// Gives a partition up: it takes no further changes, what it has is committed, no worker serves it any more, and its log
    /// is closed. Returns once that is so; where its storage fails, what is not on disk is given up. Others are served
    /// meanwhile. Any thread but the service's own, while the service runs; one call for one partition at a time.
    ///
    /// - Returns: the position of its newest record on disk; nil where this process does not own it.
    @discardableResult
    public func release(_ number: Int) -> Int64? {
        guard let partition = partitions.value[number] else { return nil }
        partition.engine.close()
        committer.retire(partition)
        gate.dismiss(number)
        compactor.nudge()
        dispatcher?.wake()
        discard(partition)
        return partition.engine.durableHead
    }

    /// Ends partitions at once, as another process owns them or may: nothing more of them is committed or shown, and who waits
    /// for a change is told that its outcome is not known. Their logs are closed once nobody reads them. Any thread but the
    /// service's own.
    public func drop(_ numbers: [Int]) {
        let dropped = numbers.compactMap { partitions.value[$0] }
        for partition in dropped { partition.end() }
        for partition in dropped { gate.dismiss(partition.number) }
        compactor.nudge()
        dispatcher?.wake()
        for partition in dropped { discard(partition) }
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

    private func discard(_ partition: Partition) {
        partition.close()
        partition.engine.leave()
        shared.schedule.forget(partition.number)
    }

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

    /// Whether this process may answer for the partitions that it owns.
    public var standing: Standing {
        guard let place else { return .serving }
        // One process owns all partitions: what is about several of them has no answer before, or once some are gone.
        if !ownsAll { return .standby(owner: place.owner) }
        return place.lease.isValid ? .serving : .leaseOver
    }

    /// Position beyond which its partitions have promised nothing: who takes them over may begin there. Nil where it owns none.
    public var promisedAtMost: Int64? { partitions.value.all.map(\.engine.promisedAtMost).max() }

    /// Whether this process owns all partitions.
    public var ownsAll: Bool { partitions.value.isWhole }

    /// Where requests for a partition that this process does not own are answered; nil where that is not known.
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
