import Platform
import TimerCore
public import TimerLog
public import Webhooks

/// The service without its network face: the log opened and folded, and the threads that fire, commit, replay, compact
/// and watch.
public final class TimerService: @unchecked Sendable {  // unchecked: `threads` is touched by `start` and `stop` alone
    /// Where timers change.
    public let engine: Engine
    /// The newest rows, for live streams.
    public let hub: EventHub
    /// Older rows.
    public let replayer: Replayer
    /// Watches the loops.
    public let watchdog: LoopWatchdog
    private let store: any LogStore
    private let oldestAtStart: Int64
    private let committer: Committer
    private let compactor: Compactor
    private let fireLoop: FireLoop
    private let dispatcher: Dispatcher?
    private let report: @Sendable (ServiceEvent) -> Void
    private var threads: [Thread] = []
    private var committerThread: Thread?
    private var dispatcherThread: Thread?

    /// Opens `store` and folds what it holds.
    ///
    /// - Parameters:
    ///   - recovery: beats while the log is opened and folded.
    ///   - sending: how events are sent to webhooks; nil: they wait.
    ///   - report: hears what an operator should; any thread.
    /// - Throws: when the store can't be used, or what it holds is damaged or names a time zone that is not there.
    public init(
        store: any LogStore, configuration: EngineConfiguration, alarm: any Alarm = TimerFDAlarm(),
        timeSource: any TimeSource = SystemTime(), recovery: Heartbeat = Heartbeat(name: "recovery"),
        sending: DeliverySending? = nil,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) throws(StoreError) {
        let started = Clocks.monotonic()
        let head = try store.open()
        recovery.beat()
        var fold = LogFold(
            secret: head.secret, maximumTimers: configuration.maximumTimers, zones: configuration.zones)
        try Committer.foldAhead(&fold, store, moved: recovery.beat)
        recovery.beat()
        let linked = fold.deletedThrough ?? 0
        let records = fold.records
        let oldest = fold.oldest
        let bytes = fold.bytes
        engine = Engine(
            fold, configuration: configuration, alarm: alarm, timeSource: timeSource, moved: recovery.beat,
            branchedAt: head.branchedAt)
        // What the fold needed in passing lies between what stays.
        ProcessUsage.trimMemory()
        hub = EventHub(head: head.last)
        self.store = store
        let nextPosition = engine.nextPosition
        oldestAtStart = oldest ?? nextPosition
        // A log that is whole never gave an id before its first: who comes with one knows another log, and has a gap.
        let deletedThrough = linked > 0 ? linked : oldestAtStart - 1
        replayer = Replayer(store, hub)
        watchdog = LoopWatchdog(report: report)
        committer = Committer(
            engine, store, hub, head: head, deletedThrough: deletedThrough, bytes: bytes,
            report: report)
        compactor = Compactor(engine, store, committer, report: report)
        committer.observeGrowth { [weak compactor] in compactor?.nudge() }
        let heart = Heartbeat(name: "fire")
        watchdog.watch(heart)
        fireLoop = FireLoop(engine, heart: heart)
        let engine = engine
        let hub = hub
        dispatcher = sending.map { Dispatcher(engine, hub, store, $0, report: report) }
        let timers = engine.lock.withLock { engine.scheduler.count }
        let missing = engine.lock.withLock { engine.scheduler.missingZone(of: engine.unchecked) }
        self.report = report
        if let missing {
            let name = String(decoding: missing, as: UTF8.self)
            throw StoreError(.unusable, "a timer is in the time zone `\(name)`, which this system's data do not have")
        }
        report(.recovered(timers: timers, records: records, seconds: Double(Clocks.monotonic() - started) / 1e9))
    }

    /// Starts the threads.
    public func start() {
        if let dispatcher {
            engine.lock.withLock { engine.onReadyDeliveries = { [weak dispatcher] in dispatcher?.wake() } }
            hub.observe { [weak engine] in engine?.ringDeliveries() }
            dispatcherThread = Thread(name: "deliver") { dispatcher.run() }
        }
        committerThread = Thread(name: "commit") { [committer] in committer.run() }
        let replanned = engine.replanCron()
        if replanned > 0 { report(.timeZonesChanged(timers: replanned)) }
        threads = [
            Thread(name: "fire") { [fireLoop] in fireLoop.run() },
            Thread(name: "compact") { [compactor] in compactor.run() },
            Thread(name: "watchdog") { [watchdog] in watchdog.run() },
        ]
        for _ in 0..<Replayer.threadCount { threads.append(Thread(name: "replay") { [replayer] in replayer.run() }) }
    }

    /// Notes what the server listens on, where no webhook may go.
    public func refuseDeliveries(to listeners: [AddressPolicy.Listener]) { dispatcher?.refuse(listeners) }

    /// Begins no further deliveries, and waits up to `seconds` for those under way.
    public func stopDeliveries(seconds: Double) {
        dispatcher?.stop(seconds: seconds)
        dispatcherThread?.join()
        dispatcherThread = nil
    }

    /// Refuses further changes; what was taken is still committed.
    public func refuseChanges() { engine.close() }

    /// Stops the threads, the committer last: everything taken is on disk afterwards.
    public func stop() {
        stopDeliveries(seconds: 0)
        refuseChanges()
        fireLoop.stop()
        compactor.stop()
        replayer.stop()
        watchdog.stop()
        for thread in threads { thread.join() }
        committer.stop()
        committerThread?.join()
        store.close()
    }

    /// Whether storage takes changes.
    public var isWritable: Bool { engine.lock.withLock { engine.availability == .open } }

    /// Position up to which events are no longer kept.
    public var horizon: Int64 { committer.horizon }

    /// Position of the oldest event that may be kept.
    public var oldestKept: Int64 { max(horizon + 1, oldestAtStart) }

    /// Tells an operator that a row of old events can't be shown.
    public func note(unreadable error: StoreError) { report(.eventsUnreadable(error)) }

    /// Bytes on the device.
    public var logBytes: Int { store.bytesOnDisk() }
}
