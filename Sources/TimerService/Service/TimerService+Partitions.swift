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

    /// Ends partitions at once, as another process owns them or may: nothing more of them is committed or shown, and clients
    /// that wait for a change are told that its outcome is not known. The logs are closed once nobody reads them. Any thread
    /// but the service's own.
    public func drop(_ numbers: [Int]) {
        let dropped = numbers.compactMap { partitions.value[$0] }
        for partition in dropped { partition.end() }
        for partition in dropped { gate.dismiss(partition.number) }
        compactor.nudge()
        dispatcher?.wake()
        for partition in dropped { discard(partition) }
    }

    private func discard(_ partition: Partition) {
        partition.close()
        partition.engine.leave()
        shared.schedule.forget(partition.number)
    }
}
