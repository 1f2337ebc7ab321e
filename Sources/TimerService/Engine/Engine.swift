import Platform
import Synchronization
import TimerCore
import TimerLog

/// The one place where timers change: a scheduler under one lock, and the batch of records that will make its changes
/// durable.
///
/// Threads that bring commands take a `turn`; the fire loop calls `advance`; the committer takes the batch, appends it
/// to the log and resolves what waited for it. Under the lock is only deciding and copying: the JSON, the hashing, the
/// checksums and the disk are outside.
public final class Engine: @unchecked Sendable {  // unchecked: every `var` is guarded by `lock`, but for the atomics
    /// Whether changes are taken.
    enum Availability {
        case open, storageUnavailable, stopping
    }

    let lock: MeteredLock
    let configuration: EngineConfiguration
    let alarm: any Alarm
    private let timeSource: any TimeSource

    var scheduler: Scheduler
    var clock: ServiceClock
    var idempotency: IdempotencyTable
    /// Keys of requests that ended without an answer since the log was begun to be folded anew.
    var abandoned: [Hash128] = []
    var counters = EngineCounters()
    var subscriptions = Subscriptions()
    /// The last instant before this process at which the server was up; nil for a new log.
    let lastUp: Now?
    var effects: [Effect] = []
    /// Records that wait for the committer.
    var batch: [UInt8] = []
    /// Records of kicks that wait with them, for rows of their own: they get their positions when the batch is taken.
    var kicks: [UInt8] = []
    private var kickCount: Int64 = 0
    /// Whether the batch holds but one record, which says nothing.
    private(set) var isTickOnly = false
    var batchFirst: Int64 = 0
    /// The position the next record gets.
    var nextPosition: Int64 = 0
    /// The newest position that stands: given out and not lost, or found on disk.
    var head: Int64 = 0
    /// The newest position given out in this process.
    private var givenOut: Int64 = 0
    /// Positions that were given out and lost, newest last.
    var lost: [ClosedRange<Int64>] = []
    /// How often the log was folded anew: what was recorded before such an event may be lost.
    private(set) var restarts = 0
    /// Whether storage fails; nothing changes until it was brought back.
    var storageFails = false
    /// Whether the service stops, for good.
    var isStopping = false
    /// Requests that the batch is to answer; and for how many the committer waits before it takes the batch.
    var gathered = 0
    var awaited = 0
    /// What the commands of this hold of the lock have cost: see `EngineConfiguration.holdLimit`.
    var spent = 0
    /// Elapsed nanoseconds the alarm is armed for.
    var armedFor = Int64.max
    /// Whether the fire loop is between two steps of one waking.
    private var isAdvancing = false
    /// Elapsed nanoseconds of the fire loop's last sign of life.
    var lastBeat: Int64 = 0
    /// The loops that read sockets.
    private var sockets = SocketReaders()
    /// Elapsed nanoseconds of the newest batch's time base.
    var lastBase: Int64 = 0
    /// Cron timers that the log was folded with and whose plans are still to be held against the data of their zones:
    /// nothing fires before that is done.
    var unchecked: ArraySlice<SlotIndex> = []
    /// Deliveries of which an attempt is under way: a fold of the log knows nothing of that.
    var attempted: Set<Int64> = []
    /// Bytes of deliveries' events that were written anew so far.
    var carriedDeliveryBytes = 0
    /// Called under the lock when the turn of deliveries has come. Set before anything changes.
    var onReadyDeliveries: () -> Void = {}
    /// The newest mark that is on disk and was written by this process.
    var mark = HighWaterMark()
    /// The highest version that this process gave or may not give again.
    var highestVersion: Int64 = 0
    /// Versions up to this one may have been given in changes that are lost, beyond what the log tells of that.
    var lostVersions: Int64 = 0
    /// Whether the next batch has to bring a mark along: positions or versions moved on beyond what the log tells.
    var needsMark = false
    let durable = Atomic<Int64>(0)
    /// The newest position that streams may show.
    let shown = Atomic<Int64>(0)
    /// Answers that rest on positions up to here may leave before those are on disk.
    let unbound = Atomic<Int64>(0)
    /// The newest position that was lost.
    let lostThrough = Atomic<Int64>(0)

    /// A stand-still of the fire loop over this, in nanoseconds, makes misfires of what came due in it.
    static let stallThreshold: Int64 = 1_000_000_000
    private static let lostRangesKept = 64
    /// A new time base is written, at the loop's next waking within a second, once the newest is so old while a timer counts the time the server is up, in nanoseconds.
    private static let tickInterval: Int64 = 8_000_000_000

    /// Takes a folded log over.
    ///
    /// - Parameter moved: called now and then on the way.
    init(
        _ fold: consuming LogFold, configuration: EngineConfiguration, alarm: any Alarm, timeSource: any TimeSource,
        moved: () -> Void = {}, branchedAt: Int64? = nil
    ) {
        self.configuration = configuration
        lock = MeteredLock(measuresAll: configuration.measuresEveryHold)
        self.alarm = alarm
        self.timeSource = timeSource
        clock = ServiceClock(timeSource, after: fold.lastBase)
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
    var availability: Availability { storageFails ? .storageUnavailable : isStopping ? .stopping : .open }

    /// What the log holds, for `restart`. Not under the lock, and only while storage fails: then the requests under way get
    /// no more.
    func state(of fold: consuming LogFold) -> FoldedState {
        let (now, keys, holds) = lock.withLock(.restart) {
            abandoned = []
            return (instant(), idempotency, subscriptions.expectsReturns)
        }
        return FoldedState(fold, underWay: keys.underWay(), holdsUnsubscribed: holds, configuration, at: now)
    }

    /// Begins anew from what the log holds, after a failed append. Called under the lock.
    ///
    /// - Parameters:
    ///   - state: gets what the engine had, to be freed without the lock.
    ///   - kept: the newest position of ours that the log holds, or may hold; those given out above are lost.
    func restart(_ state: inout FoldedState, keeping kept: Int64) {
        if givenOut > kept {
            // Ranges lost since the log ended there are parts of this one.
            lost.removeAll { $0.lowerBound > kept }
            lost.append(kept + 1...givenOut)
            if lost.count > Self.lostRangesKept { lost.removeFirst() }
            lostThrough.store(givenOut, ordering: .releasing)
        }
        restarts += 1
        for key in abandoned { state.idempotency.release(key) }
        if showsEarly { lostVersions = highestVersion }
        batch.removeAll(keepingCapacity: true)
        kicks.removeAll(keepingCapacity: true)
        kickCount = 0
        gathered = 0
        take(&state)
    }

    /// Takes over what a log held, in exchange for what was here.
    private func take(_ state: inout FoldedState) {
        swap(&scheduler, &state.scheduler)
        swap(&idempotency, &state.idempotency)
        let now = clock.now()
        // The calendar may have been set back since its timers were armed.
        if now.wallOffset < state.armedAt.wallOffset { scheduler.rebuildWallWheel(now) }
        expectSubscribers(of: state.stoppable, now, isStart: restarts == 0)
        for id in attempted { scheduler.rejoinDelivery(id) }
        unchecked = state.cronTimers[...]
        let (head, mark) = (state.head, state.mark)
        // Two above the mark: so no row begins right behind what was lost.
        nextPosition = max(nextPosition, head + 1, min(mark.position, .max - 2) + 2, PositionClock.position(at: now))
        batchFirst = nextPosition
        needsMark = needsMark || mark.position > head || lostVersions > scheduler.lostVersions
        scheduler.noteLostVersions(lostVersions)
        highestVersion = max(highestVersion, scheduler.lostVersions)
        self.mark = HighWaterMark()
        unbound.store(0, ordering: .releasing)
        self.head = head
        durable.store(head, ordering: .releasing)
        shown.store(head, ordering: .releasing)
        armedFor = nextWake(now) ?? .max
        // What is overdue waited for the disk, or for the server: the loop stood still.
        lastBeat = 0
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

    /// Lets threads that wait for the lock have it, for one that takes it again at once. The holder may not call.
    public func letOthersIn() { lock.yield(naps: 1) }

    /// The current instant; a step of the calendar is followed at once.
    func instant() -> Now {
        let last = clock.lastReading
        let now = clock.now(isUp: !storageFails)
        sockets.note(silence: now.elapsed - last.elapsed)
        if now.wallOffset != last.wallOffset { followStep(from: last.wallOffset, now) }
        return now
    }

    /// Adds a loop that reads sockets, where kicks may wait.
    ///
    /// - Parameter ask: has the loop tell once it has read them; called under the lock.
    public func addReader(ask: @escaping @Sendable () -> Void) -> SocketReader {
        let reader = SocketReader(ask: ask) { [alarm] in alarm.ring() }
        lock.withLock { sockets.add(reader) }
        return reader
    }

    /// Whether what is due may be judged: not while a kick may wait in a socket since the process stood still.
    private func mayJudge(_ now: Now) -> Bool {
        if sockets.areRead || !scheduler.mayHoldWatchdogs { return true }
        guard let next = scheduler.nextWake(now), next <= now.elapsed else { return true }
        return sockets.read(at: now.elapsed)
    }

    private func followStep(from offset: Int64, _ now: Now) {
        if now.wallOffset < offset {
            scheduler.rebuildWallWheel(now)
        } else if (now.wallOffset - offset) * 1_000_000 > Self.stallThreshold {
            scheduler.noteWallStep(to: now)
        }
        guard availability == .open else { return }
        // A waking that is overdue stays so: by it the fire loop finds that it stood still.
        if armedFor > now.elapsed { armedFor = .max }
        plan(now)
    }

    /// The clocks as they are, for a row. A step of the calendar is followed whoever sees it first.
    func timeBase() -> TimeBase { clock.base(at: instant()) }

    /// Wakes the committer when there are records, and plans the next waking.
    func afterChanges(_ now: Now) {
        if !batch.isEmpty && gathered >= awaited { lock.broadcast() }
        if scheduler.hasReadyDeliveries(durable: shownHead) { onReadyDeliveries() }
        plan(now)
    }

    private func plan(_ now: Now) {
        guard availability == .open, let next = nextWake(now) else { return }
        // A past instant that was asked for just now is overdue since now: the loop did not stand still.
        let wake = max(next, now.elapsed)
        if wake < armedFor {
            armedFor = wake
            alarm.arm(boottime: clock.boottime(ofElapsed: wake))
        }
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
                    effect, type, distance: previous == 0 ? 0 : position - previous, definition: definition,
                    to: &batch)
            }
            if type == .updated || type == .rescheduled { scheduler.noteRedefined(effect.slot, at: position) }
            if type == .deleted { recordWill(effect.slot) }
            if effect.owesDelivery { owe(position, effect) }
        }
        effects.removeAll(keepingCapacity: true)
        scheduler.finishStep()
        if showsEarly && !coversVersions { bindBatch() }
    }

    /// Writes the record of a change that no stream tells: a kick, or else the timer as it is now.
    private func recordUntold(_ effect: Effect) {
        guard let kicks = effect.kicks else { return recordSnapshot(effect.slot) }
        recordKick(effect.slot, effect.progress, kicks)
    }

    /// Writes the record of a kick, to be durable with the batch at hand.
    func recordKick(_ slot: SlotIndex, _ progress: TimerProgress, _ kicks: KickProgress) {
        // What shows the kick waits for a record of this batch, which is durable as a whole.
        if batch.isEmpty { tick() }
        RecordCodec.appendKick(
            progress, kicks, hash: scheduler.hash(slot), base: scheduler.base(slot), to: &self.kicks)
        kickCount += 1
        highestVersion = max(highestVersion, progress.version)
        scheduler.stampKick(slot, position: head)
    }

    /// The position up to which the batch at hand will go, with its kicks and a mark.
    var batchLast: Int64 { nextPosition + kickCount }

    /// Gives the kicks at hand their positions, behind the batch; the first of them.
    func placeKicks() -> Int64 {
        let first = nextPosition
        nextPosition += kickCount
        if kickCount > 0 {
            head = nextPosition - 1
            givenOut = head
        }
        kickCount = 0
        return first
    }

    /// Notes that the one record of the batch says nothing.
    func noteTick() { isTickOnly = true }

    /// Bytes of records that wait for the disk.
    var waitingBytes: Int { batch.count + kicks.count }

    /// Gives the next record its position. The first of a batch moves on to the clock's, so that no later process gives
    /// a position again; those that follow it are consecutive.
    func takePosition() -> Int64 {
        precondition(!storageFails, "nothing is recorded while storage fails: the fold of the log would not know of it")
        return givePosition()
    }

    /// As `takePosition`, for the record by which storage is tried while it fails.
    func givePosition() -> Int64 {
        if batch.isEmpty {
            // In an empty log streams were told the position before its first: none may lie between the two.
            if head > 0 { nextPosition = max(nextPosition, PositionClock.position(at: clockNow)) }
            batchFirst = nextPosition
        }
        isTickOnly = false
        head = nextPosition
        givenOut = nextPosition
        nextPosition += 1
        return head
    }

    /// What a step of the fire loop came to.
    public enum Advance: Sendable {
        /// Nothing more is due now.
        case done
        /// More is due: call again.
        case more
        /// Too many records wait for the disk: call again soon.
        case held
    }

    /// Fires what is due, one bounded step.
    public func advance() -> Advance {
        lock.lock(.fire)
        defer { lock.unlock() }
        let planned = max(armedFor, lastBeat)
        let now = instant()
        guard availability == .open else { return .done }
        if planned != .max && now.elapsed - planned > Self.stallThreshold {
            scheduler.noteStall(until: now)
        }
        // Also when held: overload makes fires late, not missed.
        lastBeat = now.elapsed
        guard waitingBytes <= EngineConfiguration.maximumBatchBytes, mayJudge(now) else { return .held }
        if scheduler.countsUptime && now.elapsed - lastBase >= Self.tickInterval { tick() }
        guard replanStep(now).isDone else {
            armedFor = now.elapsed
            afterChanges(now)
            return .more
        }
        var done = scheduler.advance(to: now, limit: EngineConfiguration.stepLimit, &effects)
        if !effects.isEmpty && !isAdvancing { counters.wakeups += 1 }
        isAdvancing = !done
        record()
        done = settleSubscriptions(now) && done
        // A plan that is not done yet stays due now; else the next one is made.
        armedFor = done ? .max : now.elapsed
        afterChanges(now)
        return done ? .done : .more
    }
}
