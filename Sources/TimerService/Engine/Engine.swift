import Platform
import TimerCore
import TimerLog

/// The one place where timers change: a scheduler under one lock, and the batch of records that will make its changes
/// durable.
///
/// Threads that bring commands take a `turn`; the fire loop calls `advance`; the committer takes the batch, appends it
/// to the log and releases the answers that wait for it. The lock is held for deciding and copying alone: JSON, hashing,
/// checksums and the disk are outside.
public final class Engine: @unchecked Sendable {  // unchecked: every `var` is guarded by `lock`
    /// Whether changes are taken.
    enum Availability {
        case open, storageUnavailable, stopping, drained
    }

    let lock: MeteredLock
    let configuration: EngineConfiguration
    let bell: CommitBell
    /// Until when what it holds may be shown; nil: always.
    let lease: Lease?
    private let alarm: any Alarm
    /// The loops that read sockets.
    private let sockets: SocketReaders

    var scheduler: Scheduler
    var clock: ServiceClock
    var idempotency: IdempotencyTable
    /// Keys of requests that ended without an answer since the engine began to fold the log anew.
    var abandoned: [Hash128] = []
    var counters = EngineCounters()
    var subscriptions = Subscriptions()
    /// The last instant at which the server was up before this process; nil for a new log.
    let lastUp: Now?
    var effects: [Effect] = []
    /// Records that wait for the committer, and the positions that are given out.
    var batch: PendingBatch
    /// Whether the committer knows that there are some.
    var isNoted = false
    /// What became of the positions given out.
    let fates: Fates
    /// Where it notes, when it is abandoned, of which positions nothing more is learnt.
    let givenUp: GivenUpPositions
    /// How often the log was folded anew: what was recorded before such an event may be lost.
    private(set) var restarts = 0
    /// Whether storage fails; nothing changes until it was brought back.
    var storageFails = false
    /// Whether the service stops, for good.
    var isStopping = false
    /// Whether fires, webhooks and changes are stopped, as the log says.
    var isDrained = false
    /// Another one once a drain was taken back, and in any other engine, of this process or another.
    var drainStamp = KernelRandom.words(1)[0]
    /// How far imports have come.
    var imports = ImportTable()
    /// What the commands of this hold of the lock have cost: see `EngineConfiguration.holdLimit`.
    var spent = 0
    /// When the fire loop means to wake.
    private(set) var pacer = FirePacer()
    /// Elapsed nanoseconds of the newest batch's time base.
    var lastBase: Int64 = 0
    /// Cron timers of the folded log whose plans are still to be checked against the data of their zones: nothing fires
    /// before that is done.
    var unchecked: ArraySlice<SlotIndex> = []
    /// Deliveries with an attempt under way, which a fold of the log does not know.
    var attempted: Set<Int64> = []
    /// Bytes of deliveries' events that were written anew so far.
    var carriedDeliveryBytes = 0
    /// Called under the lock when deliveries are ready. Set before anything changes.
    var onReadyDeliveries: () -> Void = {}
    /// The newest mark that is on disk and was written by this process.
    var mark = HighWaterMark()
    /// The highest version that this process gave or may not give again.
    var highestVersion: Int64 = 0
    /// Versions up to this one may have been given in changes that are lost, beyond what the log tells of that.
    var lostVersions: Int64 = 0
    /// Whether the next batch has to bring a mark along: positions or versions moved on beyond what the log tells.
    var needsMark = false

    /// A new time base is written, at the loop's next waking within a second, once the newest is so old while a timer counts the time the server is up, in nanoseconds.
    static let tickInterval: Int64 = 8_000_000_000

    /// How long the suspending clock stands after the log was taken over from another process, in nanoseconds: its clients try
    /// again within that.
    private static let takeoverPatience: Int64 = 1_000_000_000

    /// Takes a folded log over.
    ///
    /// - Parameters:
    ///   - isShared: whether other processes may write the log as well.
    ///   - moved: called now and then on the way.
    init(
        _ fold: consuming LogFold, isShared: Bool = false, configuration: EngineConfiguration, shared: SharedParts,
        moved: () -> Void = {}, branchedAt: Int64? = nil
    ) {
        batch = PendingBatch(isShared: isShared)
        self.configuration = configuration
        bell = shared.bell
        lease = shared.lease
        alarm = shared.alarm
        sockets = shared.sockets
        givenUp = shared.givenUp
        fates = Fates(givenUp: shared.givenUp.ranges)
        lock = MeteredLock(measuresAll: configuration.measuresEveryHold)
        clock = ServiceClock(
            shared.timeSource, after: fold.lastBase, patience: shared.lease == nil ? 0 : Self.takeoverPatience)
        lastUp = fold.lastBase?.now
        var state = FoldedState(
            fold,
            underWay: IdempotencyTable(
                maximum: configuration.maximumIdempotencyKeys, maximumBytes: configuration.maximumIdempotencyBytes),
            holdsUnsubscribed: true, configuration, at: clock.now(), moved: moved)
        scheduler = Scheduler(secret: [])
        idempotency = state.idempotency
        if let branchedAt { beginAnew(branchedAt) }
        take(&state)
    }

    /// Whether changes are taken.
    var availability: Availability {
        storageFails ? .storageUnavailable : isStopping ? .stopping : isDrained ? .drained : .open
    }

    /// Whether records are taken that change no timer: also while the server is drained.
    var takesRecords: Bool { !storageFails && !isStopping }

    /// What the log holds, for `restart`. Not under the lock, and only while storage fails: then the requests under way get
    /// no more.
    func state(of fold: consuming LogFold) -> FoldedState {
        let (now, keys, holds) = lock.withLock(.restart) {
            abandoned = []
            return (instant(), idempotency, subscriptions.expectsReturns)
        }
        return FoldedState(fold, underWay: keys.underWay(), holdsUnsubscribed: holds, configuration, at: now)
    }

    /// Begins anew from what the log holds, after a failed append.
    ///
    /// - Parameters:
    ///   - state: gets what the engine had, to be freed without the lock.
    ///   - kept: the newest position of ours that the log holds, or may hold; those given out above are lost.
    ///   - isLoss: changes that were shown may be lost, whose versions are not given again.
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
        // What is read rests on what was left. The row that began an epoch behind it has a position that was given and lost.
        if isLoss { batch.head = min(batch.head, kept) }
    }

    /// Takes over what a log held, in exchange for what was here.
    private func take(_ state: inout FoldedState) {
        swap(&scheduler, &state.scheduler)
        swap(&idempotency, &state.idempotency)
        isDrained = state.isDrained
        imports = state.imports
        let now = clock.now(isUp: !isDrained)
        // The calendar may have been set back since the wall timers were armed.
        if now.wallOffset < state.armedAt.wallOffset { scheduler.rebuildWallWheel(now) }
        expectSubscribers(of: state.stoppable, now, isStart: restarts == 0)
        for id in attempted { scheduler.rejoinDelivery(id) }
        unchecked = state.zonedTimers[...]
        let (head, mark) = (state.head, state.mark)
        // Two above the mark, so that no row begins right behind lost positions.
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
    public func turn<Result>(_ body: (borrowing Turn) -> Result) -> Result {
        lock.lock(.turn)
        defer { lock.unlock() }
        spent = 0
        let now = instant()
        let result = body(Turn(engine: self, now: now))
        counters.mostChangesPerTurn = max(counters.mostChangesPerTurn, spent)
        afterChanges(now)
        return result
    }

    /// Lets waiting threads take the lock. Called by a thread that takes it again at once (starvation); the holder may not.
    public func letOthersIn(naps: Int = 1) { lock.yield(naps: naps) }

    /// The current instant; a step of the calendar is followed at once.
    func instant() -> Now {
        let last = clock.lastReading
        let now = clock.now(isUp: !storageFails && !isDrained)
        sockets.noteReading(at: clock.boottime(ofElapsed: now.elapsed))
        if now.wallOffset != last.wallOffset { followStep(from: last.wallOffset, now) }
        return now
    }

    /// Whether due timers may be judged: not while a kick may be in a socket since the process stood still.
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

    /// The clocks as they are, for a row. A step of the calendar that this reading sees is followed.
    func timeBase() -> TimeBase { clock.base(at: instant()) }

    /// Wakes the committer when there are records, and plans the next waking.
    func afterChanges(_ now: Now) {
        if !batch.isEmpty { callCommitter() }
        if scheduler.hasReadyDeliveries(durable: shownHead) { onReadyDeliveries() }
        plan(now)
    }

    /// Notes that the batch is to answer one more request.
    func noteRequest() {
        batch.requests += 1
        bell.gather(1)
    }

    private func callCommitter() {
        if !isNoted {
            isNoted = true
            bell.note()
        }
        if isFull { bell.tellFull() }
        bell.ringWhenGathered()
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
                recordUntold(effect)
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
                    effect, type, distance: batch.distance(from: previous, to: position),
                    definition: definition, to: &batch.records)
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
    private func recordUntold(_ effect: Effect) {
        guard let kicks = effect.kicks else { return recordSnapshot(effect.slot) }
        recordKick(effect.slot, effect.progress, kicks)
    }

    /// Writes the record of a kick, to be durable with the batch at hand.
    func recordKick(_ slot: SlotIndex, _ progress: TimerProgress, _ kicks: KickProgress) {
        // An answer that shows the kick waits for a record of this batch, which is durable as a whole.
        if batch.isEmpty { tick() }
        RecordCodec.appendKick(
            progress, kicks, hash: scheduler.hash(slot), base: scheduler.base(slot), to: &batch.kicks)
        batch.countKick()
        highestVersion = max(highestVersion, progress.version)
        scheduler.stampKick(slot, position: batch.head)
    }

    /// Gives the next record its position.
    func takePosition() -> Int64 {
        precondition(!storageFails, "nothing is recorded while storage fails: the fold of the log would not know of it")
        return batch.takePosition(at: clockNow)
    }

    /// The result of a step of the fire loop.
    public enum FireStep: Sendable {
        /// Nothing more is due now.
        case done
        /// More is due: call again.
        case more
        /// Too many records wait for the disk: call again soon.
        case held
    }

    /// Fires what is due, one bounded step.
    public func fire() -> FireStep {
        lock.lock(.fire)
        defer { lock.unlock() }
        // Before the clock is read: that may plan anew.
        let pacerBefore = pacer
        let now = instant()
        guard availability == .open else { return .done }
        if pacerBefore.stoodStill(until: now.elapsed) { scheduler.noteStall(until: now) }
        // Also when held: overload makes fires late, not missed.
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
        return done ? .done : .more
    }

    /// Has the fire loop look at the engine at once.
    func callFireLoop() { alarm.ring() }
}
