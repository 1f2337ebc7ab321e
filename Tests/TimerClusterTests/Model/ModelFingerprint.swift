import TimerLog

@testable import TimerCluster

/// Fingerprints of states: two states with the same fingerprint go on alike, so one of them is explored.
extension ClusterModel {
    var fingerprint: Int {
        var hasher = Hasher()
        hasher.combine(time)
        hasher.combine([first, left.faults, left.appends, left.handOvers, left.leaves ? 1 : 0])
        for index in servers.indices { servers[index].hash(into: &hasher, now: now(index).boottime) }
        database.hash(into: &hasher)
        hasher.combine(strays.count)
        for stray in strays { stray.hash(into: &hasher) }
        hasher.combine(acknowledged)
        hasher.combine(claimed.position)
        hasher.combine(claimed.session)
        return hasher.finalize()
    }
}

extension ModelServer {
    func hash(into hasher: inout Hasher, now: Int64) {
        membership.hash(into: &hasher, now: now)
        hasher.combine(max(leaseEnd, now))
        hasher.combine(served)
        hasher.combine([isUnsettled, isWorkHeld, isReleasing, isPaused])
        hasher.combine(waiting.count)
        for call in waiting { call.hash(into: &hasher) }
        for flight in flights {
            hasher.combine(flight == nil)
            flight?.hash(into: &hasher)
        }
        hasher.combine(work.count)
        for one in work { one.hash(into: &hasher) }
        hasher.combine(read)
        hasher.combine(sessions)
    }
}

extension ModelServer.Work {
    func hash(into hasher: inout Hasher) {
        switch self {
        case .adopt(let owner): hasher.combine([1, owner.epoch, owner.session])
        case .adopted(let owner, let error):
            hasher.combine([2, owner.epoch, owner.session, error == nil ? 0 : error?.kind == .fenced ? 1 : 2])
        case .drop: hasher.combine(3)
        case .release: hasher.combine(4)
        }
    }
}

extension ModelServer.Flight {
    func hash(into hasher: inout Hasher) {
        hasher.combine(isHeld)
        switch statement {
        case .call(let call): call.hash(into: &hasher)
        case .append(let session, let row, let tail):
            hasher.combine([1, session, tail])
            hasher.combine(row)
        case .end: hasher.combine(2)
        case .reopen(let session, let epoch, let first): hasher.combine([3, session, epoch, first])
        case .chain(let position): hasher.combine([4, position])
        }
        switch stage {
        case .sent: hasher.combine(0)
        case .planned(let plan): hasher.combine(plan)
        case .done(let reply): reply.hash(into: &hasher)
        }
    }
}

extension ModelReply {
    func hash(into hasher: inout Hasher) {
        switch self {
        case .answer(let answer): answer.hash(into: &hasher)
        case .inserted(let row): hasher.combine(row)
        case .nothing: hasher.combine(1)
        case .duplicate: hasher.combine(2)
        case .failed: hasher.combine(3)
        case .end(let owner, let newest):
            hasher.combine(owner)
            hasher.combine(newest)
        case .chain(let rows): hasher.combine(rows)
        }
    }
}

extension DirectoryAnswer {
    func hash(into hasher: inout Hasher) {
        switch self {
        case .done: hasher.combine(1)
        case .ended(let isEnded): hasher.combine(isEnded)
        case .count(let count): hasher.combine(count)
        case .failed: hasher.combine(2)
        case .take(.refused): hasher.combine(3)
        case .take(.blocked): hasher.combine(4)
        case .take(.taken(let barrier)): hasher.combine([barrier.epoch, barrier.position])
        case .view(let view):
            hasher.combine([view.isLive ? 1 : 0, view.owner.epoch, view.owner.session, view.end, view.realtime])
            for node in view.nodes { node.hash(into: &hasher) }
        }
    }
}

extension ClusterNode {
    func hash(into hasher: inout Hasher) {
        hasher.combine([session, beat, isLeaving ? 1 : 0, skew ?? .min])
        hasher.combine(memory)
    }
}

extension DirectoryCall {
    func hash(into hasher: inout Hasher) {
        hasher.combine([session, issuedAt.boottime])
        switch request {
        case .join: hasher.combine(1)
        case .beat(let beat):
            hasher.combine([2, beat.promised, beat.isLeaving ? 1 : 0, beat.skew ?? .min])
            hasher.combine(beat.memory)
        case .leave(let promised): hasher.combine([3, promised])
        case .end(let node): hasher.combine([4, node.session, node.beat])
        case .take(let order): hasher.combine([5, order.epoch, order.from, order.session, order.clock])
        case .give(let order): hasher.combine([6, order.epoch, order.from, order.session, order.clock])
        case .endConnections(let session): hasher.combine([7, session])
        case .forget(let position): hasher.combine([8, position])
        }
    }
}

extension Membership {
    /// The stored properties that the fingerprint holds.
    static let hashed: Set = [
        "clusterState", "phase", "isCallUnderWay", "nextCall", "lastPromise", "promisedAtEnd", "leaseEnd",
        "isLeaseShown",
        "hasLostLease", "isDraining", "isSkewed", "observations", "lastView", "ending", "gone", "nextForget", "changes",
        "changesAtBeat", "isOwnerDoubtful", "isTaking", "isUnblocking", "isConfirmed", "adoptAt", "unableUntil",
        "isAdopting",
        "isDropping",
        "isReleasing", "handOver", "ownerLeaves", "isFenced", "reportedEnd", "reportedShown", "reconciledAt",
    ]
    /// The properties on which no step depends but reports, and those that stay the same.
    static let passedOver: Set = [
        "timing", "profile", "newSession", "steps", "isSkewReported", "missing", "ownedElsewhere",
    ]

    /// Hashes all on which later steps depend. An instant that has passed counts as now.
    func hash(into hasher: inout Hasher, now: Int64) {
        hash(clusterState, into: &hasher)
        switch phase {
        case .joining: hasher.combine(0)
        case .member: hasher.combine(1)
        case .departing(let isLast): hasher.combine(isLast ? 2 : 3)
        case .left: hasher.combine(4)
        }
        hasher.combine([max(nextCall, now), lastPromise, promisedAtEnd, max(leaseEnd, now), max(nextForget, now)])
        hasher.combine([
            isCallUnderWay, isLeaseShown, hasLostLease, isDraining, isSkewed, changes == changesAtBeat, isOwnerDoubtful,
            isTaking, isUnblocking, isConfirmed, isAdopting, isDropping, isReleasing, isFenced,
        ])
        for (session, seen) in observations.sorted(by: { $0.key < $1.key }) {
            hasher.combine([session, seen.beat, min(seen.unchanged, timing.silence)])
        }
        hasher.combine(lastView.map { min(now - $0, timing.widestGap) })
        hasher.combine(ending)
        hasher.combine(gone)
        hasher.combine(adoptAt)
        hasher.combine(adoptAt.map { $0 > reconciledAt })
        hasher.combine(unableUntil.map { max($0, now) })
        hasher.combine(ownerLeaves)
        hasher.combine(reportedEnd)
        hasher.combine(reportedShown)
        guard let handOver else { return }
        hasher.combine([handOver.node.session, handOver.until, handOver.patientUntil, handOver.isNamed ? 1 : 0])
        switch handOver.stage {
        case .following(let end, let beats):
            hasher.combine(end)
            hasher.combine(beats)
        case .releasing: hasher.combine(1)
        case .giving(let tries): hasher.combine(tries)
        }
    }

    private func hash(_ state: ClusterState, into hasher: inout Hasher) {
        hasher.combine([
            state.session, state.owner?.epoch ?? -1, state.owner?.session ?? -1, state.skew ?? .min,
        ])
        hasher.combine([state.isMember, state.isServing])
        for node in state.nodes { node.hash(into: &hasher) }
    }
}
