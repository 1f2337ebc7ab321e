import Platform
public import TimerLog

/// Partitions that come and go while others are served.
extension TimerService {
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
        let log = try recover(number, moved: moved)
        let partition = Partition(
            log, place: PartitionPlace(number, of: volume.layout), configuration: configuration, shared: shared,
            isShared: volume.isShared, moved: moved, report: report)
        do throws(StoreError) { try partition.checkZones() } catch {
            discard(partition)
            throw error
        }
        dispatcher?.watch(partition)
        feed.follow(partition)
        followers.watch(partition)
        guard gate.admit(partition) else {
            discard(partition)
            return nil
        }
        handovers.update { _ = $0.remove(number) }
        remotes?.end(number)
        followers.look(at: number)
        // What was recorded before the committer knew of it.
        partition.callCommitter()
        let replanned = partition.engine.replanCron()
        if replanned > 0 { report(.timeZonesChanged(timers: replanned)) }
        partition.engine.callFireLoop()
        return partition
    }

    /// Folds the log of a partition that is to be this process's: what was prepared and the rest, or all of it.
    private func recover(_ number: Int, moved: () -> Void) throws(StoreError) -> RecoveredLog {
        if let followed = followed.take(number) {
            do throws(StoreError) { return try followed.recover(moved: moved) } catch {
                // Whatever is wrong with it, the log itself tells: a store that can't be used throws again.
                moved()
            }
        }
        return try RecoveredLog.recover(
            volume.store(number), configuration, hashPrefix: volume.layout.hashPrefix(of: number), isAhead: true,
            moved: moved)
    }

    /// Reads the log of a partition that another process owns and is about to give, or what has come since the last call; so
    /// that `adopt` has little left to do. What was read is held in memory until `adopt` or `forget`: as much as the partition
    /// would take. Any thread, for one partition at a time.
    ///
    /// - Returns: how many rows were new.
    /// - Throws: when they can't be read, or are damaged.
    public func prepare(_ number: Int) throws(StoreError) -> Int {
        try followed.readOn(number) {
            FollowedLog(
                volume.store(number), configuration, secret: volume.secret ?? [],
                hashPrefix: volume.layout.hashPrefix(of: number))
        }
    }

    /// Throws away what `prepare` has read of a partition, and ends a call that is under way. Any thread.
    public func forget(_ number: Int) { followed.forget(number) }

    /// Gives a partition up: it takes no further changes, what it has is committed, no worker serves it any more, and its log
    /// is closed. Returns once that is so; where its storage fails, what is not on disk is given up. Others are served
    /// meanwhile. Any thread but the service's own, while the service runs; one call for one partition at a time.
    ///
    /// - Returns: position beyond which nothing of it was promised, nor given to a record, and nothing is from now on: another
    ///   process begins behind it. Nil where this process does not own the partition.
    @discardableResult
    public func release(_ number: Int) -> Int64? {
        guard let partition = partitions.value[number] else { return nil }
        partition.engine.close()
        committer.retire(partition)
        let promised = partition.engine.seal()
        dismiss(partition)
        compactor.nudge()
        dispatcher?.wake()
        discard(partition)
        return promised
    }

    /// As `release`, for a partition that another process is to own: it is in hand-over until it is adopted again or dropped.
    public func handOver(_ number: Int) -> Int64? {
        handovers.update { _ = $0.insert(number) }
        return release(number)
    }

    /// Whether a partition is between two owners, this process the one before: its requests may wait a little. Any thread.
    public func isInHandover(_ number: Int) -> Bool { handovers.withLock { $0.contains(number) } }

    /// Ends partitions at once, as another process owns them or may: nothing more of them is committed or shown, and who waits
    /// for a change is told that its outcome is not known. Their logs are closed once nobody reads them. Any thread but the
    /// service's own.
    public func drop(_ numbers: [Int]) {
        handovers.update { $0.subtract(numbers) }
        let dropped = numbers.compactMap { partitions.value[$0] }
        for partition in dropped { partition.end() }
        for partition in dropped { dismiss(partition) }
        committer.noteEnded()
        compactor.nudge()
        dispatcher?.wake()
        for partition in dropped { discard(partition) }
    }

    /// Takes a partition out of what is owned; streams go on with what its next owner tells.
    private func dismiss(_ partition: Partition) {
        let number = partition.number
        if let remotes { feed.follow(remotes.begin(after: partition)) }
        gate.dismiss(number)
        followers.look(at: number)
    }

    private func discard(_ partition: Partition) {
        partition.close()
        partition.engine.leave()
        shared.schedule.forget(partition.number)
    }
}
