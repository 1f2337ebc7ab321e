import Platform
import TimerCore
import TimerLog

/// The one place where timers change: a scheduler under one lock, and the batch of records that will make its changes
/// durable.
///
/// Threads that bring commands take a `turn`; the fire loop calls `fire`; the committer takes the batch, appends
/// it to the log and releases the answers that wait for it. The lock is held for deciding and copying alone: JSON,
/// hashing, checksums and the disk are outside.
public final class Engine: @unchecked Sendable {  // unchecked: every `var` is guarded by `lock`
    /// Whether changes are taken.
    enum Availability {
        case open, storageUnavailable, stopping, drained
    }

    let lock: MeteredLock
    let configuration: EngineConfiguration
    let bell: CommitBell
    /// The lease under which the engine's state may be shown; nil where it always may be.
    let lease: Lease?
    private let alarm: any Alarm
    /// The loops that read sockets.
    private let sockets: SocketReaders

    var scheduler: Scheduler
    var clock: ServiceClock
    var idempotency: IdempotencyTable
    /// Keys of requests that ended without an answer since the engine began to fold the log again.
    var abandoned: [Hash128] = []
    var counters = EngineCounters()
    var subscriptions = Subscriptions()
    /// The counts of due timers that requests share.
    var dueTallies = DueTallies()
    /// The last instant at which the server was up before this process; nil for a new log.
    let lastUp: Now?
    var effects: [Effect] = []
    /// The client of the request whose step is being taken, as its events name it; nil outside of a step.
    var actor: Actor?
    /// The trace context of that request in its kept form, which the timers that it makes or changes keep; empty for
    /// none.
    var trace: [UInt8] = []
    /// Records that wait for the committer, and the positions that are given out.
    var batch: PendingBatch
    /// Whether the committer knows that records wait.
    var isNoted = false
    /// The fates of the positions given out.
    let fates: Fates
    /// The list to which this engine, when it is abandoned, adds the positions whose fate stays unknown.
    let unknownPositions: UnknownPositions
    /// How often the log was folded again: what was recorded before a fold may be lost.
    private(set) var restarts = 0
    /// Whether storage fails; nothing changes until it works again.
    var storageFails = false
    /// Whether the service stops, for good.
    var isStopping = false
    /// Whether no further attempts at deliveries begin, as the next owner of the log makes them.
    var hasEndedDeliveries = false
    /// Whether fires, webhooks and changes are stopped, as the log says.
    var isDrained = false
    /// The client that asked for the newest drain, or for its end; nil where it is not known.
    var drainedBy: Actor?
    /// A stamp that changes when a drain is taken back, and differs in any other engine, of this process or
    /// another.
    var drainStamp = KernelRandom.words(1)[0]
    /// How far imports have come.
    var imports = ImportTable()
    /// All access keys, as the loops see them too: see `Engine+Keys`.
    var keys = KeyRing()
    let access: SharedAccess
    /// The cost of the commands of this hold of the lock so far: see `EngineConfiguration.holdLimit`.
    var spent = 0
    /// The instant at which the fire loop is to wake, and whether that loop stood still.
    private(set) var pacer = FirePacer()
    /// Elapsed nanoseconds of the newest batch's time base.
    var lastBase: Int64 = 0
    /// Timers of the folded log whose plans are still to be checked against the data of their zones: nothing fires
    /// before that is done.
    var unchecked: ArraySlice<SlotIndex> = []
    /// Calendars of the folded log that are still to be recorded with the data that their zones have here, before the
    /// timers are checked.
    var staleCalendars: [CalendarName] = []
    /// Deliveries with an attempt under way, which a fold of the log does not know.
    var attempted: Set<Int64> = []
    /// Bytes of deliveries' events that were written again so far.
    var carriedDeliveryBytes = 0
    /// The closure that is called under the lock when deliveries are ready. Set before anything changes.
    var onReadyDeliveries: () -> Void = {}
    /// The closure that is called once the engine is freed, on the thread that let go of it last. Set when the
    /// engine is dropped.
    var onFreed: () -> Void = {}
    /// The newest mark that is on disk and was written by this process.
    var mark = HighWaterMark()
    /// The highest version that this process gave or may not give again.
    var highestVersion: Int64 = 0
    /// The highest version that may have been given in a change that is lost, beyond what the log says of that.
    var lostVersions: Int64 = 0
    /// Whether the next batch has to contain a mark: positions or versions are beyond what the log says.
    var needsMark = false

    /// The age of the newest time base, in nanoseconds, from which a new one is written while a timer counts the
    /// time that the server is up: at the fire loop's next waking, within a second.
    static let tickInterval: Int64 = 8_000_000_000

    /// How long the suspending clock stops after the log was taken over from another process, in nanoseconds: the
    /// clients of that process try again within that time.
    private static let takeoverPatience: Int64 = 1_000_000_000

    /// Makes the engine of a folded log.
    ///
    /// - Parameters:
    ///   - answered: the answers of the log.
    ///   - isShared: whether other processes may write the log as well.
    ///   - moved: called now and then on the way.
    ///   - branchedAt: see `StoreHead.branchedAt`.
    ///   - lost: the greatest position and version that the log may have lost.
    init(
        _ fold: consuming LogFold, _ answered: IdempotencyTable, isShared: Bool = false,
        configuration: EngineConfiguration, shared: SharedParts, moved: () -> Void = {}, branchedAt: Int64? = nil,
        lost: HighWaterMark = HighWaterMark()
    ) {
        batch = PendingBatch(isShared: isShared)
        self.configuration = configuration
        bell = shared.bell
        lease = shared.lease
        alarm = shared.alarm
        sockets = shared.sockets
        access = shared.access
        unknownPositions = shared.unknownPositions
        fates = Fates(unknownPositions: shared.unknownPositions.ranges)
        lock = MeteredLock(measuresAll: configuration.measuresEveryHold)
        clock = ServiceClock(
            shared.timeSource, after: fold.lastBase, patience: shared.lease == nil ? 0 : Self.takeoverPatience)
        lastUp = fold.lastBase?.now
        var state = FoldedState(
            fold, answered, holdsUnsubscribed: true, configuration, at: clock.now(), moved: moved)
        scheduler = Scheduler(secret: [])
        idempotency = state.idempotency
        if let branchedAt { restartFromClock(branchedAt) }
        if lost != HighWaterMark() { begin(above: lost) }
        take(&state)
    }

    deinit {
        scheduler = Scheduler(secret: [])
        idempotency = IdempotencyTable(maximum: 0)
        onFreed()
    }

    /// Whether changes are taken now, and if not, why.
    var availability: Availability {
        storageFails ? .storageUnavailable : isStopping ? .stopping : isDrained ? .drained : .open
    }

    /// Whether records are taken that change no timer: also while the server is drained.
    var takesRecords: Bool { !storageFails && !isStopping }

    /// Refuses further changes for good. The last record says until when the server was up, if a timer counts that.
    func close() {
        lock.withLock {
            recordAllKeyUses()
            if availability == .open && scheduler.countsUptime { tick() }
            isStopping = true
            afterChanges(instant())
        }
    }

    /// Returns what the log holds, for `restart`. Called without the lock, and only while storage fails, when no
    /// further requests get under way.
    func state(of fold: consuming LogFold) -> FoldedState {
        let (now, keys, holds) = lock.withLock(.restart) {
            abandoned = []
            return (instant(), idempotency, subscriptions.expectsReturns)
        }
        return FoldedState(fold, keys.underWay(), holdsUnsubscribed: holds, configuration, at: now)
    }

    /// Begins again from what the log holds, after a failed append.
    ///
    /// - Parameters:
    ///   - state: gets what the engine had, to be freed without the lock.
    ///   - kept: the newest position given by this process that the log holds, or may hold; those given out above
    ///     it are lost.
    ///   - isLoss: whether changes that were shown may be lost; their versions are not given again.
    func restart(_ state: inout FoldedState, keeping kept: Int64, isLoss: Bool = false) {
        lock.lock(.restart)
        defer { lock.unlock() }
        fates.lose(after: kept, through: batch.givenOut)
        restarts += 1
        for key in abandoned { state.idempotency.release(key) }
        if showsEarly || isLoss { lostVersions = highestVersion }
        bell.took(batch.requests)
        batch.clear()
        take(&state)
        // Reads rest on what was left. The row that began an epoch after it has a position that was given out and
        // lost.
        if isLoss { batch.head = min(batch.head, kept) }
    }

    /// Exchanges the engine's state for what a log held.
    private func take(_ state: inout FoldedState) {
        swap(&scheduler, &state.scheduler)
        swap(&idempotency, &state.idempotency)
        isDrained = state.isDrained
        drainedBy = state.drainedBy
        imports = state.imports
        scheduler.arrivingFloor = imports.versionFloor
        dueTallies = DueTallies()
        keys = state.keys
        publishKeys()
        let now = clock.now(isUp: !isDrained)
        // The calendar may have been set back since the wall timers were armed.
        if now.wallOffset < state.armedAt.wallOffset { scheduler.rebuildWallWheel(now) }
        expectSubscribers(of: state.stoppable, now, isStart: restarts == 0)
        for id in attempted { scheduler.rejoinDelivery(id) }
        unchecked = state.zonedTimers[...]
        staleCalendars = state.staleCalendars
        let (head, mark) = (state.head, state.mark)
        // Two above the mark, so that no row begins right after lost positions.
        batch.resume(
            head: head, atOrAfter: max(min(mark.position, .max - 2) + 2, PositionClock.position(at: now)))
        needsMark = needsMark || mark.position > head || lostVersions > scheduler.lostVersions
        scheduler.noteLostVersions(lostVersions)
        highestVersion = max(highestVersion, scheduler.lostVersions)
        self.mark = HighWaterMark()
        fates.reset(head: head)
        pacer.restart(wake: nextWake(now))
    }

    /// The clocks as they were read last.
    var clockNow: Now { clock.lastReading }

    /// Runs `body` holding the lock, at one instant; then the committer and the alarm learn what changed.
    public func turn<Result>(waking: Waking = .atOnce, _ body: (borrowing Turn) -> Result) -> Result {
        lock.lock(.turn)
        defer { lock.unlock() }
        spent = 0
        let now = instant()
        let result = body(Turn(engine: self, now: now))
        counters.mostChangesPerTurn = max(counters.mostChangesPerTurn, spent)
        afterChanges(now, waking: waking)
        return result
    }

    /// Sleeps while threads wait for the lock, so that they can take it. Called by a thread that would take it
    /// again at once (starvation); the holder may not call.
    public func yieldLock(naps: Int = 1) { lock.yield(naps: naps) }

    /// Reads the clocks. A step of the calendar is followed at once.
    func instant() -> Now {
        let last = clock.lastReading
        let now = clock.now(isUp: !storageFails && !isDrained)
        sockets.noteReading(at: clock.boottime(ofElapsed: now.elapsed))
        if now.wallOffset != last.wallOffset { followStep(from: last.wallOffset, now) }
        return now
    }

    /// Whether due timers may be judged: not while a kick may be unread in a socket, as the process stood still.
    private func mayJudge(_ now: Now) -> Bool {
        if sockets.areRead || !scheduler.mayHoldWatchdogs { return true }
        guard let next = scheduler.nextWake(now), next <= now.elapsed else { return true }
        return sockets.read(at: clock.boottime(ofElapsed: now.elapsed))
    }

    private func followStep(from offset: Int64, _ now: Now) {
        if now.wallOffset < offset {
            scheduler.rebuildWallWheel(now)
        } else if (now.wallOffset - offset) * 1_000_000 > FirePacer.stallThreshold {
            scheduler.noteWallStep(to: now)
        }
        guard availability == .open else { return }
        pacer.replan(at: now.elapsed)
        plan(now)
    }

    /// Reads the clocks, for a row. A step of the calendar that this reading sees is followed.
    func timeBase() -> TimeBase { clock.base(at: instant()) }

    /// Calls the committer when there are records and the dispatcher when deliveries are ready, and plans the next
    /// waking.
    func afterChanges(_ now: Now, waking: Waking = .atOnce) {
        if !batch.isEmpty { callCommitter(waking) }
        if scheduler.hasReadyDeliveries(durable: shownHead) { onReadyDeliveries() }
        plan(now)
        if scheduler.countsUptime, pacer.endRest() { callFireLoop() }
    }

    /// Bytes of records that wait for the disk.
    var waitingBytes: Int { batch.byteCount }

    /// Whether more records wait for the disk than may.
    var isFull: Bool { waitingBytes > EngineConfiguration.maximumBatchBytes }

    private func plan(_ now: Now) {
        guard availability == .open, let next = nextWake(now) else { return }
        // A past instant that a client has just asked for is overdue from now on: the loop did not stand still.
        let wake = max(next, now.elapsed)
        if pacer.plan(wake) { alarm.arm(boottime: clock.boottime(ofElapsed: wake)) }
    }

    /// Gives the step's effects their positions and writes their records.
    func record() {
        for effect in effects {
            guard let type = effect.type else {
                recordUnshown(effect)
                continue
            }
            let position = takePosition()
            let previous = scheduler.stamp(
                effect.slot, position: position, isBase: RecordCodec.holdsDefinition(effect), isEvent: true)
            if type == .deleted { scheduler.noteDeleted(effect.slot, at: position) }
            counters.count(effect)
            highestVersion = max(highestVersion, effect.progress.version)
            scheduler.withDefinition(effect.slot) { definition in
                RecordCodec.append(
                    effect, type, by: actor, distance: batch.distance(from: previous, to: position),
                    definition: definition, to: &batch.records.open)
            }
            if type == .updated || type == .rescheduled { scheduler.noteRedefined(effect.slot, at: position) }
            if type == .deleted { recordWill(effect.slot) }
            if effect.owesDelivery { owe(position, effect) }
        }
        effects.removeAll(keepingCapacity: true)
        scheduler.finishStep()
        if showsEarly && !coversVersions { bindBatch() }
    }

    /// Writes the record of a change that no stream shows: a kick, or else the timer as it is now.
    private func recordUnshown(_ effect: Effect) {
        guard let kicks = effect.kicks else { return recordSnapshot(effect.slot) }
        recordKick(effect.slot, effect.progress, kicks)
    }

    /// Writes the record of a kick, to be durable with the batch at hand.
    func recordKick(_ slot: SlotIndex, _ progress: TimerProgress, _ kicks: KickProgress) {
        // An answer that shows the kick waits for a record of this batch, which is durable as a whole.
        if batch.isEmpty { tick() }
        RecordCodec.appendKick(
            progress, kicks, hash: scheduler.hash(slot), base: scheduler.base(slot), to: &batch.kicks.open)
        batch.countKick()
        highestVersion = max(highestVersion, progress.version)
        scheduler.stampKick(slot, position: batch.head)
    }

    /// Gives the next record its position.
    func takePosition() -> Int64 {
        precondition(!storageFails, "nothing is recorded while storage fails: the fold of the log would not know of it")
        return batch.takePosition(at: clockNow)
    }

    /// Fires what is due, in bounded steps as long as the hold of the lock is short: between two holds the fire loop naps, and the
    /// committer takes what is decided so far for a commit of its own.
    public func fire() -> FireStep {
        lock.lock(.fire)
        defer { lock.unlock() }
        let end = clock.elapsed + EngineConfiguration.longestFiring
        for _ in 1..<EngineConfiguration.mostFireSteps {
            let step = fireStep()
            if step != .more || clock.elapsed >= end { return step }
        }
        return fireStep()
    }

    /// Takes one bounded step of the fire loop, by a new reading of the clocks. Called under the lock.
    private func fireStep() -> FireStep {
        // Copied before the clock is read, which may make another plan.
        let pacerBefore = pacer
        let now = instant()
        guard availability == .open else { return .done }
        if pacerBefore.wasStalled(until: now.elapsed) { scheduler.noteLoopStall(until: now) }
        // The loop counts as moving also when held: overload makes fires late, not missed.
        pacer.beat(at: now.elapsed)
        guard !isFull, mayJudge(now) else { return .held }
        if scheduler.countsUptime && now.elapsed - lastBase >= Self.tickInterval { tick() }
        guard replanStep(now).isDone else {
            pacer.finish(isDone: false, at: now.elapsed)
            afterChanges(now)
            return .more
        }
        var done = scheduler.advance(to: now, limit: EngineConfiguration.stepLimit, &effects)
        if pacer.step(fired: !effects.isEmpty, isDone: done) { counters.wakeups += 1 }
        record()
        done = settleSubscriptions(now) && done
        pacer.finish(isDone: done, at: now.elapsed)
        afterChanges(now)
        guard done else { return .more }
        // Uptime is what readings of the clocks prove.
        if scheduler.countsUptime { return .done }
        pacer.rest()
        return .resting(until: pacer.armedFor == .max ? .max : clock.boottime(ofElapsed: pacer.armedFor))
    }

    /// Wakes the fire loop, so that it takes a step of the engine at once.
    func callFireLoop() { alarm.ring() }
}
