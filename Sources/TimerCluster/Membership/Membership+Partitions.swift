import TimerLog

/// What the plan of ownership was made of.
struct PlanKey: Sendable, Equatable {
    var nodes: [ClusterNode]
    var firstOwner: Int64?

    init(nodes: [ClusterNode], firstOwner: Int64?) {
        // Beats and skews change all the time, and the plan rests on neither.
        self.nodes = nodes.map { node in
            ClusterNode(
                session: node.session, url: node.url, reads: 0, speaks: node.speaks, isLeaving: node.isLeaving)
        }
        self.firstOwner = firstOwner
    }
}

/// The partitions: who owns them, which to take, which to drop.
extension Membership {
    /// Brings what the node holds in line with the map of owners and the plan.
    mutating func reconcile(at now: ClusterInstant) {
        guard phase == .member, standing.isMember else { return }
        reconciledAt = now.boottime
        guard doubts == doubtsRead else {
            readOwners(at: now)
            return
        }
        dropLost()
        tellOwner()
        if let reason = reasonToGiveUp(at: now) {
            steps.append(.report(.sessionGivenUp(session: session, reason: reason)))
            endSession(.departing(isLast: false), at: now)
            return
        }
        forgetOldPreparations(at: now)
        handOver(at: now)
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
                promisedBefore[partition] = nil
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
        for partition in partitions { gives[partition] = nil }
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
        guard standsBy != owner.session, currentPlan().isOneOwner else { return }
        standsBy = owner.session
        steps.append(.report(.standsBy(owner: owner.url)))
    }

    /// Why the session must end, if it must.
    private mutating func reasonToGiveUp(at now: ClusterInstant) -> String? {
        let owners = standing.owners
        let isGiving = mayGive && now.boottime - skewedAt < MembershipTiming.skewPatience
        if isSkewed, !isGiving, owners.contains(where: { $0.session == session }) {
            return "the clock of this node is off"
        }
        if fencedPartitions.contains(where: { owners[$0].session == session }) {
            return "appends to partitions of this node are refused"
        }
        let ownsOthers = owners.dropFirst().contains { $0.session == session }
        if ownsOthers && owners[0].session != session && currentPlan().isOneOwner {
            return "one node is to own all partitions, and another has the first"
        }
        return nil
    }

    private mutating func adoptTaken(at now: ClusterInstant) {
        for (partition, time) in toAdopt.sorted(by: { $0.key < $1.key })
        where time <= now.boottime && adopting[partition] == nil {
            toAdopt[partition] = nil
            preparations[partition] = nil
            adopting[partition] = session
            steps.append(.adopt(standing.owners[partition]))
        }
    }

    private mutating func takeOver(at now: ClusterInstant) {
        let plan = currentPlan()
        let live = Set(standing.nodes.map(\.session))
        let isFirst = plan.isOneOwner && !(standing.owners[0].session == session && confirmed.contains(0))
        for owner in standing.owners where taking.count < MembershipTiming.takesAtOnce {
            let partition = owner.partition
            if isFirst && partition > 0 { return }
            // A partition that is this session's without its knowing is taken once more: then its log is certain.
            let isWanted =
                owner.session == session
                ? !confirmed.contains(partition) : !live.contains(owner.session) && plan.sessions[partition] == session
            guard isWanted, gives[partition] == nil, !taking.contains(partition), !unblocking.contains(owner.session)
            else { continue }
            taking.insert(partition)
            let order = TakeOrder(
                partition: partition, epoch: owner.epoch, from: owner.session, session: session,
                clock: max(CalendarPosition.at(realtime: now.realtime), promisedBefore[partition] ?? 0))
            call(.take(order), at: now)
        }
    }

    mutating func currentPlan() -> OwnershipPlan {
        let key = PlanKey(nodes: standing.nodes, firstOwner: standing.owners.first?.session)
        if let plan, plan.key == key { return plan.plan }
        let made = OwnershipPlan(nodes: standing.nodes, firstOwner: key.firstOwner, partitions: partitionCount)
        if made != plan?.plan { planChangedAt = reconciledAt }
        plan = (key, made)
        return made
    }
}
