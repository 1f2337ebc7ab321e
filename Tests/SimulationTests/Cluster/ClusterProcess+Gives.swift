import Platform
import Synchronization
import TimerCluster
import TimerLog

@testable import TimerCore
@testable import TimerService

/// What a process does where partitions are spread over several, and change hands by plan.
extension ClusterProcess {
    /// Whether it may answer for some partition.
    var mayAnswer: Bool { isAwake && lease.isValid && !owned.all.isEmpty }

    /// Reads the log of a partition that another process is about to give: see `TimerService.prepare`.
    func prepare(_ number: Int) throws(StoreError) -> Int {
        try followed.readOn(number) {
            FollowedLog(
                volume.store(number), configuration, secret: SimulatedStore.secret,
                hashPrefix: volume.layout.hashPrefix(of: number), isAhead: false)
        }
    }

    /// The log of a partition that it is to serve: see `TimerService.adopt`.
    func recover(_ number: Int) throws(StoreError) -> RecoveredLog {
        let (store, prefix) = (volume.store(number), volume.layout.hashPrefix(of: number))
        if let log = followed.take(number) {
            if bug == .leavesRowsUnread { return try recover(number, through: log.head) }
            do throws(StoreError) {
                let recovered = try log.recover()
                prepared += 1
                return recovered
            } catch {}
        }
        return try RecoveredLog.recover(store, configuration, hashPrefix: prefix)
    }

    /// A mistake: what was read before the partition came is all that is folded.
    private func recover(_ number: Int, through position: Int64) throws(StoreError) -> RecoveredLog {
        let (store, prefix) = (volume.store(number), volume.layout.hashPrefix(of: number))
        let head = try store.open()
        var fold = LogFold(secret: head.secret, hashPrefix: prefix)
        try store.fold(into: &fold, through: position)
        let (bytes, records) = (fold.bytes, fold.records)
        return RecoveredLog(
            store: store, hashPrefix: prefix, head: head, deletedThrough: 0, oldest: nil, bytes: bytes,
            records: records, fold: fold)
    }

    /// Stops taking changes for a partition that it is to give. What it has is committed by the steps of the committer.
    func beginRelease(_ partition: Partition) {
        partition.engine.close()
        partition.leave()
        partition.callCommitter()
    }

    /// Ends what `beginRelease` has begun, once nothing is left to commit: see `TimerService.release`.
    func finishRelease(_ partition: Partition) -> Int64 {
        let engine = partition.engine
        var clock: Int64
        if bug == .promisesAfterRelease {
            clock = engine.lock.withLock { max(engine.batch.next - 1, engine.promised.load(ordering: .relaxed)) }
        } else {
            clock = engine.seal()
        }
        if bug == .givesFromDurableHead { clock = engine.fates.durableHead }
        dismiss([partition])
        return clock
    }

    /// Serves partitions no more.
    func dismiss(_ gone: [Partition]) {
        for partition in gone {
            if let remotes {
                let remote = remotes.begin(after: partition)
                try? spread?.began(remote, feed)
                feed.follow(remote)
            }
            partitions.publish(partitions.value.removing(partition.number))
            followers.look(at: partition.number)
        }
        for partition in gone {
            partition.close()
            partition.engine.leave()
            shared.schedule.forget(partition.number)
        }
    }
}
