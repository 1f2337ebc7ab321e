import TimerLog

/// The session: joining, beating, leaving, and the lease.
extension Membership {
    /// Sends the session's next call if it is time.
    mutating func sendNext(at now: ClusterInstant) {
        guard !isCallUnderWay, now.boottime >= nextCall else { return }
        switch phase {
        case .left: return
        case .joining:
            // The log that is served for an old session must not be shown under the lease of a new one.
            guard !hasHostWork else { return }
            call(
                .join(
                    ClusterNode(
                        session: session, url: profile.url, peer: profile.peer, reads: profile.reads,
                        skew: clusterState.skew, isLeaving: isLeaving)), at: now)
        case .member:
            changesAtBeat = changes
            lastPromise = max(lastPromise, CalendarPosition.at(realtime: now.realtime + timing.promise))
            call(
                .beat(
                    NodeBeat(
                        session: session, promised: lastPromise, skew: clusterState.skew, isLeaving: isLeaving)),
                at: now)
        case .departing: call(.leave(promised: promisedAtEnd), at: now)
        }
        isCallUnderWay = true
    }

    mutating func joined(at now: ClusterInstant) {
        guard phase == .joining else { return }
        phase = .member
        nextCall = now.boottime
    }

    mutating func took(
        _ view: ClusterView, to beat: NodeBeat, sentAt sent: ClusterInstant, at now: ClusterInstant
    ) {
        guard phase == .member else { return }
        clusterState.isUnreachable = false
        guard view.isLive else {
            steps.append(.report(.sessionEnded(session: session)))
            endSession(.joining, at: now)
            return
        }
        if view.format > profile.reads {
            steps.append(.report(.formatTooNew(view.format)))
            endSession(.departing(isLast: true), at: now)
            return
        }
        if !clusterState.isMember { steps.append(.report(.joined(session: session))) }
        clusterState.isMember = true
        leaseEnd = max(leaseEnd, sent.boottime + timing.lease)
        if leaseEnd > now.boottime {
            if !isLeaseShown && hasLostLease { steps.append(.report(.leaseRegained)) }
            (isLeaseShown, hasLostLease) = (true, false)
            steps.append(.extendLease(until: leaseEnd))
        }
        learn(view.owner)
        observe(view, at: now)
        nextCall = sent.boottime + beatInterval(at: now)
        if isOwnerDoubtful { nextCall = min(nextCall, now.boottime + timing.pause) }
        if isLeaving && !beat.isLeaving { nextCall = now.boottime }
        measureSkew(view, sentAt: sent, at: now)
        forgetInability(at: now)
        forget(at: now)
        reconcile(at: now)
        if beat.isLeaving { followHandOver(view, at: now) }
        reportEnd(view)
    }

    /// Reports the end of another node's log to the host, and what its owner may have shown, whenever one of them changes.
    private mutating func reportEnd(_ view: ClusterView) {
        let shown = view.nodes.first { $0.session == view.owner.session }?.followed
        guard !isOwn, !hasHostWork, view.end != reportedEnd || shown != reportedShown else { return }
        (reportedEnd, reportedShown) = (view.end, shown)
        steps.append(.read(through: view.end, shown: shown))
    }

    /// Reports that the lease has run out, once.
    mutating func noteLease(at now: ClusterInstant) {
        guard isLeaseShown, now.boottime >= leaseEnd else { return }
        (isLeaseShown, hasLostLease) = (false, true)
        steps.append(.report(.leaseLost))
    }

    /// Drops the log and all that the session has learnt, and goes on with `next`: a new session, or the departure.
    mutating func endSession(_ next: Phase, at now: ClusterInstant) {
        leaseEnd = .min
        (isLeaseShown, hasLostLease) = (false, false)
        steps.append(.revokeLease)
        endHandOver(.failed)
        if clusterState.isServing { drop() }
        clusterState.isServing = false
        clusterState.isMember = false
        clusterState.nodes = clusterState.nodes.filter { $0.session != session }
        lastPromise = 0
        (isTaking, isUnblocking, isConfirmed, isFenced) = (false, false, false, false)
        adoptAt = nil
        ending = []
        observations = [:]
        lastView = nil
        ownedElsewhere = nil
        isOwnerDoubtful = true
        nextCall = now.boottime
        phase = next
        if next == .joining { beginSession() }
    }

    mutating func departed(at now: ClusterInstant) {
        guard case .departing(let isLast) = phase else { return }
        nextCall = now.boottime
        phase = isLast ? .left : .joining
        if !isLast { beginSession() }
    }

    private mutating func beginSession() {
        clusterState.session = newSession()
        isCallUnderWay = false
    }

    private mutating func forget(at now: ClusterInstant) {
        guard now.boottime >= nextForget else { return }
        nextForget = now.boottime + timing.forgetInterval
        let position = CalendarPosition.at(realtime: now.realtime - timing.memory)
        call(.forget(promisedBefore: position), at: now)
    }
}
