import TimerLog

/// The partitions: who owns them, which to take, which to drop.
extension Membership {
    /// Whether the node takes nothing: it is to stop soon, or its calendar is off.
    var isLeaving: Bool { isDraining || isSkewed }

    /// Brings what the node holds in line with the map of owners.
    mutating func reconcile(at now: ClusterInstant) {
        guard phase == .member, standing.isMember else { return }
        reconciledAt = now.boottime
        guard doubts == doubtsRead else {
            readOwners(at: now)
            return
        }
        dropLost()
        tellOwner()
        if let reason = reasonToGiveUp() {
            steps.append(.report(.sessionGivenUp(session: session, reason: reason)))
            endSession(.departing(isLast: false), at: now)
            return
        }
        guard !isLeaving, leaseEnd > now.boottime, !hasPaused else { return }
        adoptTaken(at: now)
        takeOver(at: now)
    }

    mutating func tookOwners(_ answer: DirectoryAnswer, at now: ClusterInstant) {
        isReadingOwners = false
        guard case .owners(let owners) = answer, owners.count == partitionCount else {
            pausedUntil = now.boottime + MembershipTiming.pause
            return
        }
        if standing.owners.isEmpty {
            standing.owners = owners
        } else {
            for owner in owners {
                let known = standing.owners[owner.partition]
                if owner.epoch < known.epoch && changedWhileRead.contains(owner.partition) { continue }
                standing.owners[owner.partition] = owner
            }
        }
        epochsKnown = standing.owners.reduce(0) { $0 + $1.epoch }
        doubtsRead = doubtsAsked
        reconcile(at: now)
    }

    mutating func tookOutcome(_ answer: DirectoryAnswer, of order: TakeOrder, at now: ClusterInstant) {
        let partition = order.partition
        taking.remove(partition)
        lastTake = now.boottime
        switch answer {
        case .take(.taken(let barrier)):
            // The map may have shown the take before its answer came.
            if barrier.epoch >= standing.owners[partition].epoch {
                epochsKnown += barrier.epoch - standing.owners[partition].epoch
                standing.owners[partition] = PartitionOwner(
                    partition: partition, epoch: barrier.epoch, session: session)
                confirmed.insert(partition)
                changedWhileRead.insert(partition)
                toAdopt[partition] = now.boottime
            }
            justTook.append(partition)
            standing.takeovers += 1
        case .take(.blocked):
            if unblocking.insert(order.from).inserted { call(.endConnections(of: order.from), at: now) }
        default:
            // Refused: the map is old. Failed: the take may have had its effect.
            doubts += 1
            pausedUntil = now.boottime + MembershipTiming.pause
        }
        reconcile(at: now)
    }

    /// Takes `partitions` out of what is served: another node has them.
    mutating func lose(_ partitions: [Int]) {
        held.subtract(partitions)
        confirmed.subtract(partitions)
        standing.fenced += partitions.count
        steps.append(.report(.fenced(partitions.sorted())))
        drop(partitions)
    }

    private mutating func readOwners(at now: ClusterInstant) {
        guard !isReadingOwners, !hasPaused else { return }
        isReadingOwners = true
        changedWhileRead = []
        doubtsAsked = doubts
        call(.readOwners, at: now)
    }

    private mutating func dropLost() {
        let lost = held.filter { standing.owners[$0].session != session }
        if !lost.isEmpty { lose(Array(lost)) }
        for partition in confirmed where standing.owners[partition].session != session {
            confirmed.remove(partition)
            toAdopt[partition] = nil
        }
    }

    private mutating func tellOwner() {
        guard let owner = standing.owner(of: 0), owner.session != session else {
            standsBy = nil
            return
        }
        guard standsBy != owner.session else { return }
        standsBy = owner.session
        steps.append(.report(.standsBy(owner: owner.url)))
    }

    /// Why the session must end, if it must.
    private func reasonToGiveUp() -> String? {
        let owners = standing.owners
        if isSkewed && owners.contains(where: { $0.session == session }) {
            return "the clock of this node is off"
        }
        if fencedPartitions.contains(where: { owners[$0].session == session }) {
            return "appends to partitions of this node are refused"
        }
        if owners[0].session != session && owners.contains(where: { $0.session == session }) {
            return "one node is to own all partitions, and another has the first"
        }
        return nil
    }

    private mutating func adoptTaken(at now: ClusterInstant) {
        for (partition, time) in toAdopt.sorted(by: { $0.key < $1.key })
        where time <= now.boottime && adopting[partition] == nil {
            toAdopt[partition] = nil
            adopting[partition] = session
            steps.append(.adopt(standing.owners[partition]))
        }
    }

    private mutating func takeOver(at now: ClusterInstant) {
        let live = Set(standing.nodes.map(\.session))
        let isPlanned = standing.plannedOwner == session
        for owner in standing.owners where taking.count < MembershipTiming.takesAtOnce {
            let partition = owner.partition
            if partition > 0 && !confirmed.contains(0) { return }
            // A partition that is this session's without its knowing is taken once more: then its log is certain.
            let isWanted =
                owner.session == session
                ? !confirmed.contains(partition) : !live.contains(owner.session) && isPlanned
            guard isWanted, !taking.contains(partition), !unblocking.contains(owner.session) else { continue }
            taking.insert(partition)
            let order = TakeOrder(
                partition: partition, epoch: owner.epoch, from: owner.session, session: session,
                clock: CalendarPosition.at(realtime: now.realtime))
            call(.take(order), at: now)
        }
    }
}
