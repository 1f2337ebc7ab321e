import Platform
import Synchronization
import TimerCore
import TimerLog

/// The thread that makes changes durable: it takes the batch of each partition that has one, appends them together, and
/// tells each partition what became of its own.
///
/// The append under way is the batching window of group commit: whatever arrives meanwhile shares the next one. With
/// `--durability interval` rows are shown as they are made, as far as a mark on disk covers them, and appended together
/// later.
final class Committer: Worker, @unchecked Sendable {
    // Unchecked: what changes is confined to the committer's thread.
    let name = "commit"
    private let volume: any LogVolume
    private var owned: Published<PartitionMap>.Copy
    private let bell: CommitBell
    private let durability: Durability
    private let worker: RefoldWorker
    /// Until when what is committed may be shown; nil: always.
    private let lease: Lease?
    /// Partitions with something to do at some time whether the bell rings or not: rows to sync, rows to delete, storage
    /// to recover.
    private var active: Set<Int> = []
    /// Partitions whose storage fails and is not tried any more, as the service stops.
    private var givenUp: Set<Int> = []
    /// Partitions that were listed when the committer looked last.
    private var listed: [Int] = []
    private var gathering = Gathering()
    /// Empty buffers for the next batch.
    private var spare = ReadyBatch()
    private var release = MemoryRelease()
    /// Bytes appended since the compactor was last told.
    private var grownBytes = 0
    /// Called each time the log has grown by a step. Set before `run`.
    var onGrowth: @Sendable () -> Void = {}
    /// Called with the number of a partition that another process has taken. Set before `run`.
    var onFenced: @Sendable (Int) -> Void = { _ in }
    /// Pause between attempts while storage fails, in nanoseconds. Set before `run`.
    var retryPause: Int64 = 250_000_000

    /// Bytes of growth after which the compactor is told.
    private static let growthStep = 1 << 20
    /// What is shown before it is on disk gathers for so many nanoseconds.
    private static let longestGathering: Int64 = 2_000_000

    /// - Parameters:
    ///   - partitions: of `volume`.
    ///   - bell: the one that they ring.
    ///   - lease: until when what is committed may be shown; nil: always.
    ///   - foldsAtOnce: logs are folded anew on the committer's thread, for tests that have but one.
    init(
        _ volume: any LogVolume, _ partitions: Published<PartitionMap>, _ bell: CommitBell, durability: Durability,
        lease: Lease? = nil, foldsAtOnce: Bool = false
    ) {
        self.lease = lease
        self.volume = volume
        owned = Published.Copy(partitions)
        self.bell = bell
        self.durability = durability
        worker = RefoldWorker(bell, runsAtOnce: foldsAtOnce)
    }

    /// Nanoseconds without any records after which memory is given back. Set before `run`.
    var quietTime: Int64 {
        get { release.quietTime }
        set { release.quietTime = newValue }
    }

    /// Ends `run` once everything is committed, or at once while storage fails.
    func stop() { bell.stop() }

    /// Commits until `stop`. The body of the committer's thread.
    func run() {
        while step() {
            if case .interval(let nanoseconds) = durability {
                bell.pause(nanoseconds: min(nanoseconds, Self.longestGathering))
            }
        }
    }

    /// Whether a step would find something to do.
    var hasWork: Bool {
        let isStopping = bell.isStopping
        let now = Clocks.monotonic()
        return owned.value.all.contains { partition in
            partition.isDue(at: now, isStopping: isStopping)
                || partition.recovery.isWorking && partition.engine.hasBatch(isLast: isStopping)
        }
    }

    /// Whether storage fails of a partition that is still tried.
    var isRecovering: Bool {
        owned.value.all.contains { !$0.recovery.isWorking && !$0.hasEnded && !givenUp.contains($0.number) }
    }

    /// Waits for work and does it. Returns false when there will be none any more.
    func step() -> Bool {
        rest()
        gather()
        if owned.refresh() { active = active.filter { owned.value[$0] != nil } }
        let isStopping = bell.isStopping
        let now = Clocks.monotonic()
        let due = takeDue(isStopping: isStopping)
        commit(due, at: now, isStopping: isStopping)
        if volume.isShared { retry(due, at: now) }
        for partition in due where !partition.hasEnded {
            if !isStopping { partition.trimLog() }
            recover(partition, at: now, isStopping: isStopping)
            if partition.isFenced { end(partition) } else { note(partition) }
        }
        return !isStopping || owned.value.all.contains(where: isUnfinished)
    }

    private func takeDue(isStopping: Bool) -> [Partition] {
        bell.takeListed(into: &listed)
        if isStopping { return owned.value.all.compactMap { working($0.number) } }
        // Nearly every batch of a single partition.
        if active.isEmpty, listed.count == 1 { return working(listed[0]).map { [$0] } ?? [] }
        return active.union(listed).sorted().compactMap(working)
    }

    /// The partition numbered `number`, unless it is not here any more.
    private func working(_ number: Int) -> Partition? {
        guard !givenUp.contains(number), let partition = owned.value[number], !partition.hasEnded else { return nil }
        return partition
    }

    /// Whether records of a partition are still to be committed before the end. Rows that are to be deleted are not: the
    /// next process finds them.
    private func isUnfinished(_ partition: Partition) -> Bool {
        if partition.isHeld { return false }
        if givenUp.contains(partition.number) || partition.hasEnded { return false }
        return !partition.recovery.isWorking || !partition.tail.rows.isEmpty || partition.engine.hasBatch(isLast: true)
    }

    /// Notes whether a partition has something to do whoever rings.
    private func note(_ partition: Partition) {
        if partition.recovery.isWorking && partition.dueAt == nil {
            if !active.isEmpty { active.remove(partition.number) }
        } else {
            active.insert(partition.number)
        }
    }

    /// Takes the batches of `due` and appends them, in one go.
    private func commit(_ due: [Partition], at now: Int64, isStopping: Bool) {
        var appends: [PartitionAppend] = []
        var requests = 0
        var appending: [Partition] = []
        for partition in due {
            let ready = partition.ready(
                at: now, isStopping: isStopping, spare: &spare, among: owned.value.all.count)
            requests += ready.requests
            guard let append = ready.append else { continue }
            appends.append(append)
            appending.append(partition)
        }
        if requests > 0 || !appends.isEmpty { gathering.took(requests) }
        bell.took(requests)
        if appends.isEmpty { return }
        let started = Clocks.monotonic()
        let outcomes = volume.append(appends)
        let ended = Clocks.monotonic()
        if outcomes.contains(.durable) { waitForLease(appending) }
        gathering.appended(from: started, to: ended)
        let seconds = Double(ended - started) / 1e9
        var bytes = 0
        for (partition, outcome) in zip(appending, outcomes) where !partition.hasEnded {
            if outcome == .fenced { end(partition) } else { bytes += partition.advance(outcome, seconds: seconds) }
        }
        noteGrowth(bytes)
        tellFailures(appending, outcomes)
    }

    /// Tells of the appends of one call that failed, together: they have one reason.
    private func tellFailures(_ appending: [Partition], _ outcomes: [AppendOutcome]) {
        let failed = zip(appending, outcomes).filter { $0.1 != .durable && $0.1 != .fenced }
        guard let (first, outcome) = failed.first else { return }
        first.report(.appendFailed(outcome, partitions: failed.map(\.0.number)))
    }

    private func noteGrowth(_ bytes: Int) {
        release.note(bytes: bytes)
        grownBytes += bytes
        if grownBytes >= Self.growthStep {
            grownBytes = 0
            onGrowth()
        }
    }

    // Where other processes may write too.

    /// Asks what became of rows, and appends them again, in one go each for all partitions that are to.
    private func retry(_ due: [Partition], at now: Int64) {
        let unsettled = due.filter { $0.isToSettle(at: now) && !$0.hasEnded }
        if !unsettled.isEmpty {
            let settlements = volume.settle(unsettled.map(\.append))
            if settlements.contains(where: \.hasLanded) { waitForLease(unsettled) }
            for (partition, settlement) in zip(unsettled, settlements) where !partition.hasEnded {
                if settlement == .fenced { end(partition) } else { partition.settle(settlement, pause: retryPause) }
            }
        }
        let absent = due.filter { $0.isToAppend(at: now) && !$0.hasEnded }
        if absent.isEmpty { return }
        let started = Clocks.monotonic()
        let outcomes = volume.append(absent.map(\.append))
        let seconds = Double(Clocks.monotonic() - started) / 1e9
        if outcomes.contains(.durable) { waitForLease(absent) }
        var bytes = 0
        for (partition, outcome) in zip(absent, outcomes) where !partition.hasEnded {
            if outcome == .fenced {
                end(partition)
            } else {
                bytes += partition.appendedAgain(outcome, seconds: seconds, pause: retryPause)
            }
        }
        noteGrowth(bytes)
    }

    /// Waits until what was committed for `partitions` may be shown, or until they are not this process's any more. A stop ends
    /// them where it may not.
    private func waitForLease(_ partitions: [Partition]) {
        guard let lease else { return }
        while !lease.isValid, partitions.contains(where: { !$0.hasEnded }) {
            if bell.isStopping { return partitions.forEach { $0.end() } }
            bell.pause(nanoseconds: Self.leasePause)
        }
    }

    /// Between two looks whether the lease was renewed, in nanoseconds.
    private static let leasePause: Int64 = 2_000_000

    /// Ends a partition that another process has taken.
    private func end(_ partition: Partition) {
        partition.end()
        active.remove(partition.number)
        partition.report(.fenced(partition: partition.number))
        onFenced(partition.number)
    }

    private func recover(_ partition: Partition, at now: Int64, isStopping: Bool) {
        guard !partition.recovery.isWorking else { return }
        if partition.isHeld { return }
        if isStopping && partition.isShared && partition.recovery.isPausing { return partition.end() }
        if isStopping && partition.recovery.isPausing {
            // What was shown is tried once more before a stop gives it up.
            guard case .append = partition.recovery.task else { return giveUp(partition) }
            partition.pausedUntil = now
        }
        partition.recover(at: now, pause: retryPause, worker)
        if isStopping && partition.isFolding {
            worker.wait(for: partition)
            partition.recover(at: now, pause: retryPause, worker)
        }
        if isStopping && partition.recovery.isPausing { giveUp(partition) }
    }

    private func giveUp(_ partition: Partition) { givenUp.insert(partition.number) }

    /// Sleeps until there may be work.
    private func rest() {
        while !bell.isStopping, !bell.hasListed {
            if !active.isEmpty, let due = active.compactMap({ owned.value[$0]?.dueAt }).min() {
                let left = due - Clocks.monotonic()
                if left <= 0 { return }
                if bell.wait(nanoseconds: left) { continue } else { return }
            }
            guard release.isWanted else {
                bell.wait()
                continue
            }
            if !bell.wait(nanoseconds: release.quietTime) { giveBackMemory() }
        }
    }

    /// Gives back the buffers, most of the newest rows, and what the allocator keeps.
    private func giveBackMemory() {
        release.done()
        spare = ReadyBatch()
        for partition in owned.value.all {
            partition.engine.shrink()
            partition.hub.shrink()
        }
        ProcessUsage.trimMemory()
    }

    /// Lets the clients that were answered last join the batch with their next requests, where that is worth its time.
    private func gather() {
        guard case .commit = durability, bell.hasListed, !bell.isStopping else { return }
        bell.gather(atLeast: gathering.expected, until: gathering.deadline)
    }
}
