public import TimerLog

/// Partitions that others mean to give to the node: it reads their logs as long as it is asked to.
extension Membership {
    /// Another node has said something. It may have said it long ago, or twice.
    ///
    /// - Parameter sender: the session that has said it.
    public mutating func heard(
        _ message: PeerMessage, from sender: Int64, at now: ClusterInstant
    ) -> [MembershipStep] {
        guard phase == .member, !standing.owners.isEmpty else { return finish(at: now) }
        switch message {
        case .prepare(let partition, let epoch, let askedAt) where standing.owners.indices.contains(partition):
            prepare(partition, epoch, askedAt: askedAt, for: sender, at: now)
        case .prepared(let partition, let epoch, let askedAt, let rows):
            targetIsPrepared(partition, epoch, askedAt: askedAt, rows: rows, from: sender, at: now)
        case .given(let partition, let epoch, session) where standing.owners.indices.contains(partition):
            wasGiven(partition, epoch, at: now)
        case .cancelled(let partition, let epoch):
            if let one = preparations[partition], one.giver == sender, one.epoch == epoch { forget(partition) }
            if let give = gives[partition], give.target == sender, give.epoch == epoch {
                stopGiving(partition, pausing: true, at: now)
            }
        case .prepare, .given: break
        }
        return finish(at: now)
    }

    private mutating func prepare(
        _ partition: Int, _ epoch: Int64, askedAt: Int64, for giver: Int64, at now: ClusterInstant
    ) {
        let isOwner = standing.owners[partition].session == giver || standing.owners[partition].epoch < epoch
        guard !isLeaving, isOwner, giver != session, standing.nodes.contains(where: { $0.session == giver }) else {
            return
        }
        if var known = preparations[partition] {
            guard !known.isCancelled, known.epoch <= epoch else { return }
            // An earlier question that comes late tells nothing new.
            if known.giver == giver && known.epoch == epoch && known.askedAt >= askedAt { return }
            (known.giver, known.epoch) = (giver, epoch)
            (known.askedAt, known.heardAt) = (askedAt, now.boottime)
            preparations[partition] = known
        } else {
            guard preparations.count < MembershipTiming.preparationsAtOnce else { return }
            preparations[partition] = Preparation(
                giver: giver, epoch: epoch, askedAt: askedAt, heardAt: now.boottime)
        }
        readOn(partition)
    }

    private mutating func readOn(_ partition: Int) {
        guard let one = preparations[partition], one.underWay == nil else { return }
        preparations[partition]?.underWay = one.askedAt
        steps.append(.prepare(partition))
    }

    /// The host has read the log of a partition to its end, or could not.
    ///
    /// - Parameter rows: how many rows it found that it did not know.
    public mutating func prepared(
        _ partition: Int, rows: Int, _ error: StoreError?, at now: ClusterInstant
    ) -> [MembershipStep] {
        guard let one = preparations[partition], let askedAt = one.underWay, !one.isCancelled else {
            preparations[partition] = nil
            // It was thrown away, or adopted, maybe before the host began.
            steps.append(.forget(partition))
            return finish(at: now)
        }
        preparations[partition]?.underWay = nil
        if error != nil {
            preparations[partition] = nil
            steps.append(.forget(partition))
            steps.append(.tell(one.giver, .cancelled(partition: partition, epoch: one.epoch)))
        } else {
            steps.append(
                .tell(one.giver, .prepared(partition: partition, epoch: one.epoch, askedAt: askedAt, rows: rows)))
        }
        return finish(at: now)
    }

    /// The giver says that the directory has made this session the owner. If the message is lost, the map of owners tells.
    private mutating func wasGiven(_ partition: Int, _ epoch: Int64, at now: ClusterInstant) {
        let known = standing.owners[partition]
        let isNews = epoch > known.epoch || epoch == known.epoch && known.session == session
        guard isNews, !confirmed.contains(partition), !taking.contains(partition) else { return }
        epochsKnown += epoch - known.epoch
        standing.owners[partition] = PartitionOwner(partition: partition, epoch: epoch, session: session)
        lastTake = now.boottime
        changedWhileRead.insert(partition)
        confirmed.insert(partition)
        toAdopt[partition] = now.boottime
        reconcile(at: now)
    }

    /// Forgets what nobody has asked for in a while, unless it is this node's by now.
    mutating func forgetOldPreparations(at now: ClusterInstant) {
        for (partition, one) in preparations.sorted(by: { $0.key < $1.key })
        where now.boottime - one.heardAt >= MembershipTiming.preparationMemory
            && standing.owners[partition].session != session
        {
            forget(partition)
        }
    }

    /// Throws away what was read of a log.
    mutating func forget(_ partition: Int) {
        guard let one = preparations[partition], !one.isCancelled else { return }
        // The host may still be reading.
        if one.underWay != nil { preparations[partition]?.isCancelled = true } else { preparations[partition] = nil }
        steps.append(.forget(partition))
    }
}
