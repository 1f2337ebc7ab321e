public import Platform
public import TimerLog
public import Webhooks

/// The service without its network face: the log opened and folded, and the threads that fire, commit, replay, compact
/// and watch.
public final class TimerService: Sendable {
    private let volume: any LogVolume
    /// The partitions that this process owns.
    public let partitions: Published<PartitionMap>
    private var first: Partition { partitions.value.all[0] }
    /// Where timers change.
    public var engine: Engine { first.engine }
    /// The newest rows, for live streams.
    public var hub: EventHub { first.hub }
    /// The newest rows of all partitions in one order, for streams.
    public let feed: EventFeed
    /// Older rows.
    public let replayer: Replayer
    /// Watches the loops.
    public let watchdog: LoopWatchdog
    private let gate: ChangeGate
    private let dispatcher: Dispatcher?
    private let workers: WorkerGroup
    private let report: @Sendable (ServiceEvent) -> Void

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

    /// Opens the logs of all partitions of `volume` and folds what they hold; see the other `init`.
    public init(
        volume: any LogVolume, configuration: EngineConfiguration, alarm: any Alarm = TimerFDAlarm(),
        timeSource: any TimeSource = SystemTime(), recovery: Heartbeat = Heartbeat(name: "recovery"),
        sending: DeliverySending? = nil,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) throws(StoreError) {
        let started = Clocks.monotonic()
        self.volume = volume
        let bell = CommitBell()
        var owned: [Partition] = []
        var records = 0
        for number in 0..<volume.layout.count {
            let log = try RecoveredLog.recover(
                volume.store(number), configuration, hashPrefix: volume.layout.hashPrefix(of: number), isAhead: true,
                moved: recovery.beat)
            records += log.records
            owned.append(
                Partition(
                    log, place: PartitionPlace(number, of: volume.layout), configuration: configuration, alarm: alarm,
                    timeSource: timeSource, bell: bell,
                    moved: recovery.beat, report: report))
        }
        partitions = Published(PartitionMap(volume.layout, owned))
        // What the fold needed in passing lies between what stays.
        ProcessUsage.trimMemory()
        let (engine, hub, store) = (owned[0].engine, owned[0].hub, owned[0].store)
        feed = EventFeed(partitions)
        replayer = Replayer(feed)
        watchdog = LoopWatchdog(report: report)
        let committer = Committer(volume, owned, bell, durability: configuration.durability)
        let compactor = Compactor(owned, report: report)
        committer.onGrowth = { [weak compactor] in compactor?.nudge() }
        let heart = Heartbeat(name: "fire")
        watchdog.watch(heart)
        let fireLoop = FireLoop(engine, heart: heart, report: report)
        dispatcher = sending.map { Dispatcher(engine, hub, store, $0, report: report) }
        gate = ChangeGate(owned)
        var workers: [any Worker] = [committer, replayer, compactor, watchdog, gate, fireLoop]
        if let dispatcher { workers.append(dispatcher) }
        self.workers = WorkerGroup(workers)
        self.report = report
        if let missing = owned.lazy.compactMap(\.engine.missingZone).first {
            let name = String(decoding: missing, as: UTF8.self)
            throw StoreError(.unusable, "a timer is in the time zone `\(name)`, which this system's data do not have")
        }
        let timers = owned.reduce(0) { $0 + $1.engine.timerCount }
        report(.recovered(timers: timers, records: records, seconds: Double(Clocks.monotonic() - started) / 1e9))
    }

    /// Starts the threads.
    public func start() {
        if let dispatcher {
            engine.observeReadyDeliveries { [weak dispatcher] in dispatcher?.wake() }
            hub.observe { [weak engine] in engine?.ringDeliveries() }
        }
        workers.start()
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

    /// Whether storage takes changes.
    public var isWritable: Bool { partitions.value.all.allSatisfy { $0.engine.takesChanges } }

    /// Position up to which events of some partition are no longer kept.
    public var horizon: Int64 { partitions.value.all.reduce(0) { max($0, $1.horizon) } }

    /// Position of the oldest event from which on all are kept.
    public var oldestKept: Int64 { partitions.value.all.reduce(0) { max($0, $1.oldestKept) } }

    /// Tells an operator that a row of old events can't be shown.
    public func note(unreadable error: StoreError) { report(.eventsUnreadable(error)) }

    /// Bytes on the device.
    public var logBytes: Int { volume.bytesOnDisk() }
}
