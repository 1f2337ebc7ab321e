import TimerLog

/// Partitions that the node gives to others: it asks the target to read the log, stops serving once the target is close, and
/// only then asks the directory. Up to there it may stop at any instant and go on serving.
extension Membership {
    /// Whether the node is to own nothing.
    var isLeaving: Bool { isDraining || isSkewed }

    /// Whether there is another node to give to.
    var mayGive: Bool {
        mutating get { !currentPlan().isOneOwner && standing.nodes.contains { $0.session != session && !$0.isLeaving } }
    }

    /// Goes on with what is being given, and begins with more.
    mutating func handOver(at now: ClusterInstant) {
        let plan = currentPlan()
        let live = Set(standing.nodes.map(\.session))
        for (partition, give) in gives.sorted(by: { $0.key < $1.key }) {
            switch give.phase {
            case .preparing:
                let isPlanned = plan.sessions[partition] == give.target && live.contains(give.target)
                let isLate = now.boottime - give.began >= MembershipTiming.giveTimeout
                if !isPlanned || isLate { stopGiving(partition, pausing: isLate, at: now) }
            case .unclear(let clock): settle(partition, give, clock, plan, live, at: now)
            case .releasing, .giving: break
            }
        }
        startGiving(plan, live, at: now)
    }

    private mutating func startGiving(_ plan: OwnershipPlan, _ live: Set<Int64>, at now: ClusterInstant) {
        guard !plan.isOneOwner, leaseEnd > now.boottime, !hasPaused else { return }
        guard isLeaving || planChangedAt + MembershipTiming.planSettles <= now.boottime else { return }
        giveAfter = giveAfter.filter { $0.value > now.boottime }
        for partition in held.sorted() where gives.count < MembershipTiming.givesAtOnce {
            guard gives[partition] == nil, giveAfter[partition] == nil, let target = plan.sessions[partition],
                target != session, live.contains(target)
            else { continue }
            gives[partition] = Give(
                target: target, epoch: standing.owners[partition].epoch, began: now.boottime, nextAsk: now.boottime)
        }
        askTargets(at: now)
    }

    /// Asks the targets that are to be asked now.
    mutating func askTargets(at now: ClusterInstant) {
        for (partition, give) in gives.sorted(by: { $0.key < $1.key })
        where give.isServing && give.nextAsk <= now.boottime {
            gives[partition]?.nextAsk = now.boottime + MembershipTiming.askInterval
            steps.append(
                .tell(
                    give.target, .prepare(partition: partition, epoch: give.epoch, askedAt: now.boottime)))
        }
    }

    /// The target says how many rows it has just found.
    mutating func targetIsPrepared(
        _ partition: Int, _ epoch: Int64, askedAt: Int64, rows: Int, from target: Int64, at now: ClusterInstant
    ) {
        guard let give = gives[partition], give.isServing, give.target == target, give.epoch == epoch,
            held.contains(partition), leaseEnd > now.boottime
        else { return }
        // What comes late says little about how far the target is now.
        let age = now.boottime - askedAt
        guard rows < MembershipTiming.rowsBehind, age >= 0, age <= MembershipTiming.preparedAge else { return }
        gives[partition]?.phase = .releasing
        held.remove(partition)
        releasing.insert(partition)
        steps.append(.release(partition))
    }

    /// The host no longer serves a partition that is to be given, and all of it is committed, or given up.
    ///
    /// - Parameter clock: position beyond which nothing of it was promised; nil where the host did not have it any more.
    public mutating func released(
        _ partition: Int, promised clock: Int64?, at now: ClusterInstant
    ) -> [MembershipStep] {
        releasing.remove(partition)
        // Else the session has ended meanwhile.
        guard let give = gives[partition], give.phase == .releasing else { return finish(at: now) }
        if let clock {
            order(partition, to: give.target, clock, at: now)
        } else {
            gives[partition] = nil
            confirmed.remove(partition)
            promisedBefore[partition] = lastPromise
            doubts += 1
            reconcile(at: now)
        }
        return finish(at: now)
    }

    private mutating func order(_ partition: Int, to target: Int64, _ clock: Int64, at now: ClusterInstant) {
        gives[partition]?.target = target
        gives[partition]?.phase = .giving(clock: clock)
        gives[partition]?.tries += 1
        let epoch = standing.owners[partition].epoch
        call(
            .give(
                TakeOrder(partition: partition, epoch: epoch, from: session, session: target, clock: clock)), at: now)
    }

    mutating func gave(_ answer: DirectoryAnswer, _ order: TakeOrder, at now: ClusterInstant) {
        let partition = order.partition
        guard let give = gives[partition], case .giving(let clock) = give.phase else { return }
        lastTake = now.boottime
        if case .take(.taken(let barrier)) = answer {
            if barrier.epoch >= standing.owners[partition].epoch {
                epochsKnown += barrier.epoch - standing.owners[partition].epoch
                standing.owners[partition] = PartitionOwner(
                    partition: partition, epoch: barrier.epoch, session: order.session)
                changedWhileRead.insert(partition)
            }
            let message = PeerMessage.given(partition: partition, epoch: barrier.epoch, session: order.session)
            steps.append(.tell(order.session, message))
            finishGiving(partition)
        } else {
            // Refused: the epoch is old, or the target's session has ended. Else it may have had its effect all the same.
            gives[partition]?.phase = .unclear(clock: clock)
            doubts += 1
            pausedUntil = now.boottime + MembershipTiming.pause
        }
        reconcile(at: now)
    }

    /// Goes on with a give that the directory did not confirm, now that the map of owners was read.
    private mutating func settle(
        _ partition: Int, _ give: Give, _ clock: Int64, _ plan: OwnershipPlan, _ live: Set<Int64>,
        at now: ClusterInstant
    ) {
        if standing.owners[partition].session != session { return finishGiving(partition) }
        guard !hasPaused else { return }
        // Given once more at the same epoch: at most one of the two has an effect, and either is right.
        if let target = plan.sessions[partition], target != session, live.contains(target),
            isLeaving || give.tries < MembershipTiming.giveTries
        {
            return order(partition, to: target, clock, at: now)
        }
        guard !isLeaving else { return }
        // The node takes it once more: a give that is still under way finds another epoch then.
        gives[partition] = nil
        confirmed.remove(partition)
        promisedBefore[partition] = clock
        giveAfter[partition] = now.boottime + MembershipTiming.givePause
    }

    private mutating func finishGiving(_ partition: Int) {
        gives[partition] = nil
        confirmed.remove(partition)
        standing.gives += 1
        justGave.append(partition)
        drop([partition])
    }

    /// Goes on serving a partition whose target was to read its log.
    mutating func stopGiving(_ partition: Int, pausing: Bool, at now: ClusterInstant) {
        guard let give = gives[partition], give.isServing else { return }
        gives[partition] = nil
        if pausing { giveAfter[partition] = now.boottime + MembershipTiming.givePause }
        steps.append(.tell(give.target, .cancelled(partition: partition, epoch: give.epoch)))
    }

    /// When a target is to be asked next, in nanoseconds since boot.
    var nextAsk: Int64 { gives.values.reduce(.max) { $1.isServing ? min($0, $1.nextAsk) : $0 } }
}
