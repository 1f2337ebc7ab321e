import Platform
import Synchronization
import TimerCore
import TimerLog

/// The thread that makes changes durable: it takes the engine's batch, appends it, and reports to the engine what
/// became of it.
///
/// The append under way is the batching window of group commit: whatever arrives meanwhile shares the next one. With
/// `--durability interval` rows are shown as they are made, as far as a mark on disk covers them, and appended together
/// later. The thread that brought a batch's one request may append the batch itself: see `lead`.
final class Committer: Worker, @unchecked Sendable {
    // Unchecked: what changes is guarded by `role`.
    let name = "commit"
    /// The lock whose holder works as the committer: the committer's thread for the length of a step, or a thread that
    /// leads.
    private let role = Lock()
    private var owned: Published<ActiveLog?>.Copy
    private let bell: CommitBell
    private let durability: Durability
    private let foldsAtOnce: Bool
    /// The lease under which what is committed may be shown; nil where it always may be.
    private let lease: Lease?
    /// Whether storage fails and is not tried any more, as the service stops.
    private var hasStoppedTrying = false
    private var gathering = Gathering()
    /// Empty buffers for the next batch.
    private var spare = ReadyBatch()
    private var release = MemoryRelease()
    private var leading: Leading
    /// Bytes appended since the compactor was last woken.
    private var grownBytes = 0
    /// The closure that is called each time the log has grown by `growthStep`. Set before `run`.
    var onGrowth: @Sendable () -> Void = {}
    /// The closure that is called when another process is found to own the log. Set before `run`.
    var onFenced: @Sendable () -> Void = {}
    /// Pause between attempts while storage fails, in nanoseconds. Set before `run`.
    var retryPause: Int64 = 250_000_000

    /// Bytes of growth after which the compactor is woken.
    private static let growthStep = 1 << 20
    /// The longest pause between two steps with `--durability interval`, in nanoseconds: changes gather meanwhile.
    private static let longestGathering: Int64 = 2_000_000

    /// - Parameters:
    ///   - bell: the bell that the log in `log` rings.
    ///   - lease: the lease under which what is committed may be shown; nil where it always may be.
    ///   - foldsAtOnce: whether a log is folded again on the committer's thread, for tests that have but one.
    init(
        _ log: Published<ActiveLog?>, _ bell: CommitBell, _ configuration: EngineConfiguration, lease: Lease? = nil,
        foldsAtOnce: Bool = false
    ) {
        self.lease = lease
        owned = Published.Copy(log)
        self.bell = bell
        durability = configuration.durability
        leading = Leading(longest: configuration.longestLed)
        self.foldsAtOnce = foldsAtOnce
    }

    /// Nanoseconds without any records after which memory is given back. Set before `run`.
    var quietTime: Int64 {
        get { release.quietTime }
        set { release.quietTime = newValue }
    }

    /// Ends `run` once everything is committed, or where storage still fails.
    func stop() { bell.stop() }

    /// Commits until `stop`. The body of the committer's thread.
    func run() {
        while step() {
            if case .interval(let nanoseconds) = durability {
                bell.pause(nanoseconds: min(nanoseconds, Self.longestGathering))
            }
        }
    }

    /// The log, unless another process has it or its storage is not tried any more.
    private var working: ActiveLog? {
        guard !hasStoppedTrying, let log = owned.value, !log.hasEnded else { return nil }
        return log
    }

    /// Whether a step would find something to do.
    var hasWork: Bool {
        guard let log = owned.value else { return false }
        let isStopping = bell.isStopping
        return log.isDue(at: Clocks.monotonic(), isStopping: isStopping)
            || log.recovery.isWorking && log.engine.hasBatch(isLast: isStopping)
    }

    /// Whether storage fails and is still tried.
    var isRecovering: Bool { working.map { !$0.recovery.isWorking } ?? false }

    /// Waits for work and does it. Returns false when no more will come.
    func step() -> Bool {
        rest()
        gather()
        return role.withLock { work() }
    }

    /// Commits the engine's batch, which answers at most one request, on the calling thread and in the place of the
    /// committer's: its client waits for nothing else, and two threads need not wake each other. Only where the log is
    /// this process's alone, its storage works, and appends are short.
    ///
    /// - Parameter amongMany: whether several clients use the calling thread.
    /// - Returns: whether that was done; if not, the committer has to be woken.
    func lead(amongMany: Bool = false) -> Bool {
        guard case .commit = durability, role.tryLock() else { return false }
        defer { role.unlock() }
        _ = owned.refresh()
        guard let log = working, !log.isShared, log.recovery.isWorking, !bell.isStopping,
            bell.gatheredRequests <= 1, leading.isAllowed(amongMany: amongMany)
        else { return false }
        bell.takeNote()
        let wasReleaseWanted = release.isWanted
        commit(log, at: Clocks.monotonic(), isStopping: false)
        if log.dueAt != nil {
            log.callCommitter()
        } else if release.isWanted != wasReleaseWanted {
            // The committer's thread gives memory back once nothing comes any more.
            bell.ring()
        }
        return true
    }

    /// Leads where the caller wants to and may, and else wakes the committer, if turns have left it something to commit.
    func commit(leads: Bool, amongMany: Bool = false) {
        if bell.hasNote && !(leads && lead(amongMany: amongMany)) { bell.ringWhenGathered() }
    }

    /// Takes the step for which `step` has waited.
    private func work() -> Bool {
        let isStopping = bell.isStopping
        // The note comes first: in the other order it could be that of a log which is published in between, and be lost.
        bell.takeNote()
        _ = owned.refresh()
        guard let log = working else { return !isStopping }
        let now = Clocks.monotonic()
        commit(log, at: now, isStopping: isStopping)
        if log.isShared && !log.hasEnded { retry(log, at: now) }
        if !log.hasEnded {
            if !isStopping { log.trimLog() }
            recover(log, at: now, isStopping: isStopping)
            if log.isFenced { end(log) }
        }
        return !isStopping || isUnfinished
    }

    /// Whether records are still to be committed before the end. Rows that are to be deleted do not count: the next
    /// process finds them.
    private var isUnfinished: Bool {
        guard let log = working, !log.isHeld else { return false }
        return !log.recovery.isWorking || !log.tail.rows.isEmpty || log.engine.hasBatch(isLast: true)
    }

    /// Takes the engine's batch and appends it.
    private func commit(_ log: ActiveLog, at now: Int64, isStopping: Bool) {
        let ready = log.ready(at: now, isStopping: isStopping, spare: &spare)
        if ready.requests > 0 || ready.syncs { gathering.took(ready.requests) }
        bell.took(ready.requests)
        guard ready.syncs else { return }
        let started = Clocks.monotonic()
        let outcome = log.append()
        let ended = Clocks.monotonic()
        if outcome == .durable { waitForLease(log) }
        gathering.appended(from: started, to: ended)
        leading.appended(in: ended - started)
        if log.hasEnded { return }
        if outcome == .fenced { return end(log) }
        noteGrowth(log.advance(outcome, seconds: Double(ended - started) / 1e9))
        if outcome != .durable { log.report(.appendFailed(outcome)) }
    }

    private func noteGrowth(_ bytes: Int) {
        release.note(bytes: bytes, at: Clocks.monotonic())
        grownBytes += bytes
        if grownBytes >= Self.growthStep {
            grownBytes = 0
            onGrowth()
        }
    }

    // The steps for a log that other processes may write too.

    /// Finds out what became of rows, or appends them again, where that is due.
    private func retry(_ log: ActiveLog, at now: Int64) {
        if log.isToSettle(at: now) {
            let settlement = log.settle()
            if settlement.hasLanded { waitForLease(log) }
            if log.hasEnded { return }
            if settlement == .fenced { return end(log) }
            log.settled(settlement, pause: retryPause)
        }
        guard log.isToAppend(at: now) else { return }
        let started = Clocks.monotonic()
        let outcome = log.append()
        let seconds = Double(Clocks.monotonic() - started) / 1e9
        if outcome == .durable { waitForLease(log) }
        if log.hasEnded { return }
        if outcome == .fenced { return end(log) }
        noteGrowth(log.appendedAgain(outcome, seconds: seconds, pause: retryPause))
    }

    /// Waits until the lease allows what was committed to be shown, or until the log is not this process's any
    /// more. Ends the log when the service stops without a valid lease.
    private func waitForLease(_ log: ActiveLog) {
        guard let lease else { return }
        while !lease.isValid, !log.hasEnded {
            if bell.isStopping { return log.end() }
            bell.pause(nanoseconds: Self.leasePause)
        }
    }

    /// The pause between two checks whether the lease was renewed, in nanoseconds.
    private static let leasePause: Int64 = 2_000_000

    /// Ends a log that another process has taken.
    private func end(_ log: ActiveLog) {
        log.end()
        log.report(.fenced)
        onFenced()
    }

    private func recover(_ log: ActiveLog, at now: Int64, isStopping: Bool) {
        if log.recovery.isWorking || log.isHeld { return }
        if isStopping && log.isShared && log.recovery.isPausing { return log.end() }
        if isStopping && log.recovery.isPausing {
            // Rows that were shown are tried once more before a stop drops them.
            guard case .append = log.recovery.task else { return hasStoppedTrying = true }
            log.pausedUntil = now
        }
        log.recover(at: now, pause: retryPause, foldsAtOnce: foldsAtOnce)
        if isStopping, let refold = log.refold {
            refold.wait()
            log.recover(at: now, pause: retryPause, foldsAtOnce: foldsAtOnce)
        }
        if isStopping && log.recovery.isPausing { hasStoppedTrying = true }
    }

    /// Sleeps until there may be work.
    private func rest() {
        while !bell.isStopping, !bell.hasNote {
            let (due, releaseAt) = role.withLock { (working?.dueAt, release.at) }
            if let due {
                let left = due - Clocks.monotonic()
                if left <= 0 { return }
                if bell.wait(nanoseconds: left) { continue } else { return }
            }
            guard let releaseAt else {
                bell.wait()
                continue
            }
            let left = releaseAt - Clocks.monotonic()
            if left > 0 { _ = bell.wait(nanoseconds: left) } else { role.withLock { giveBackMemory() } }
        }
    }

    /// Gives back the buffers, most of the newest rows, and what the allocator keeps.
    private func giveBackMemory() {
        release.done()
        spare = ReadyBatch()
        owned.value?.engine.shrink()
        owned.value?.hub.shrink()
        ProcessUsage.trimMemory()
    }

    /// Waits for the clients that were answered last to join the batch with their next requests, where that is
    /// worth its time.
    private func gather() {
        guard case .commit = durability, bell.hasNote, !bell.isStopping else { return }
        let (expected, deadline) = role.withLock { (gathering.expected, gathering.deadline) }
        bell.gather(atLeast: expected, until: deadline)
    }
}

/// How long the committer delays a batch so that more requests share its append (group commit).
///
/// Clients that were answered together ask again together. Without a delay the first of them would have an append
/// of its own, and the others the next one: each of these would wait for two appends. The committer therefore waits
/// for as many requests as the last batch answered, at most half as long as the last append took. A single client
/// never waits: its one request is all that the last batch answered.
struct Gathering {
    /// Requests that the last batch answered: as many may come again.
    private(set) var expected = 0
    /// Monotonic nanoseconds up to which the committer waits for them.
    private(set) var deadline: Int64 = 0

    /// The longest wait, in nanoseconds.
    static let longest: Int64 = 2_000_000
    /// The shortest wait, in nanoseconds: a shorter sleep costs more than it gains.
    static let shortest: Int64 = 20_000

    /// Notes that a batch was taken, with so many requests to answer.
    mutating func took(_ requests: Int) { expected = requests }

    /// Notes how long the append took, in monotonic nanoseconds.
    mutating func appended(from start: Int64, to end: Int64) {
        let wait = min((end - start) / 2, Self.longest)
        deadline = wait < Self.shortest ? end : end + wait
    }
}

/// The rule by which a thread that brought a change may commit it itself: appends are short, so that its other work is held
/// up for no longer than it takes to wake the committer and to be woken by it.
struct Leading {
    /// The longest mean append that counts as short, in nanoseconds.
    private let longest: Int64
    /// The mean of the newest appends, in nanoseconds, each of which counts an eighth more than the one before; nil
    /// before the first.
    private var mean: Int64?

    init(longest: Int64) { self.longest = longest }

    /// Whether a thread may lead. The first append is the committer's, as its length is not known.
    ///
    /// - Parameter amongMany: whether several clients use it: one of them may come meanwhile, so appends have to be shorter.
    func isAllowed(amongMany: Bool) -> Bool {
        mean.map { $0 <= (amongMany ? longest / Self.patience : longest) } ?? false
    }

    /// How many times as long the appends may be for a client that is alone as among many.
    private static let patience: Int64 = 3

    /// Notes how long an append took, in nanoseconds, whichever thread made it.
    mutating func appended(in nanoseconds: Int64) {
        mean = mean.map { $0 + (nanoseconds - $0) / 8 } ?? nanoseconds
    }
}

/// The rule by which the memory that a load needed is given back: after a while without any records, as a load that
/// comes in bursts would pay for fresh memory each time.
struct MemoryRelease {
    /// Bytes appended since memory was last given back.
    private var bytes = 0
    /// Monotonic nanoseconds of the newest append.
    private var appendedAt: Int64 = 0
    /// Nanoseconds without any records after which memory is given back.
    var quietTime: Int64 = 5_000_000_000

    /// The appended bytes below which giving memory back is not worth it.
    static let leastBytes = 4 << 20

    /// Whether there is memory worth giving back.
    var isWanted: Bool { bytes >= Self.leastBytes }

    /// The monotonic instant at which memory is given back if nothing is appended before; nil where it is not worth it.
    var at: Int64? { isWanted ? appendedAt + quietTime : nil }

    /// Notes that so many bytes were appended, at the monotonic instant `now`.
    mutating func note(bytes: Int, at now: Int64) {
        self.bytes += bytes
        appendedAt = now
    }

    /// Notes that memory was given back.
    mutating func done() { bytes = 0 }
}
