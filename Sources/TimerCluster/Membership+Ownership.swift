import TimerLog

/// The ownership of the log: when to take, adopt and drop it.
extension Membership {
    /// Whether the node must not take the log: it will stop soon, hands the log over, its calendar is off, or the log could
    /// not be used here.
    var isLeaving: Bool { isDraining || isSkewed || isHandingOver || unableUntil != nil }

    /// Whether the log belongs to this session, as far as is known.
    var isOwn: Bool { clusterState.owner?.session == session }

    /// Brings what the node serves in line with the owner of the log.
    mutating func reconcile(at now: ClusterInstant) {
        guard phase == .member, clusterState.isMember else { return }
        reconciledAt = now.boottime
        if !isOwn { lose() }
        reportOwner()
        guard !isOwnerDoubtful else { return }
        if let reason = reasonToEndSession {
            steps.append(.report(.sessionDropped(session: session, reason: reason)))
            endSession(.departing(isLast: false), at: now)
            return
        }
        isFenced = false
        guard !isLeaving, leaseEnd > now.boottime else { return }
        adoptTaken(at: now)
        takeOver(at: now)
    }

    /// Notes the owner that a view shows. A view that was asked for before the newest take was answered may lack
    /// that take, and counts only if its epoch is not older than the known one; any other counts whatever it shows,
    /// as a database may lose what it had.
    mutating func learn(_ owner: LogOwner) {
        let isFresh = changes == changesAtBeat
        if isFresh { isOwnerDoubtful = false }
        if let known = clusterState.owner, !isFresh, owner.epoch < known.epoch { return }
        clusterState.owner = owner
    }

    /// Marks the owner as doubtful, since only a view that is asked for from now on is right about it: the
    /// directory is asked soon, and nothing is taken until then.
    mutating func doubtOwner(at now: ClusterInstant) {
        changes += 1
        isOwnerDoubtful = true
        nextCall = min(nextCall, now.boottime + timing.pause)
    }

    mutating func tookOutcome(_ answer: DirectoryAnswer, of order: TakeOrder, at now: ClusterInstant) {
        isTaking = false
        switch answer {
        case .take(.taken(let barrier)):
            changes += 1
            clusterState.takeovers += 1
            steps.append(.report(.took))
            // A view may have shown the take, or a later one, before the answer to the take came.
            if barrier.epoch >= clusterState.owner?.epoch ?? 0 {
                clusterState.owner = LogOwner(epoch: barrier.epoch, session: session)
                isConfirmed = true
                adoptAt = now.boottime
            }
        case .take(.blocked):
            isUnblocking = true
            call(.endConnections(of: order.from), at: now)
        // Refused: the owner was not the one that was known. Failed: the take may have had its effect.
        default: doubtOwner(at: now)
        }
        reconcile(at: now)
    }

    /// Drops the log if it is served, and forgets the take, as another node owns the log.
    mutating func lose() {
        isConfirmed = false
        adoptAt = nil
        guard clusterState.isServing else { return }
        clusterState.isServing = false
        clusterState.fenced += 1
        steps.append(.report(.fenced))
        drop()
    }

    /// Gives a log up that can't be used on this node, such as one with a time zone that its system lacks, if another node
    /// may own it. All other causes are tried again: they pass, or are the same everywhere.
    mutating func leaveToOthers(after error: StoreError, at now: ClusterInstant) {
        if error.kind == .unusable && hasOther { unableUntil = now.boottime + timing.inability }
    }

    /// Whether another node may own the log.
    private var hasOther: Bool { clusterState.nodes.contains { $0.session != session && !$0.isLeaving } }

    /// Forgets that the log could not be used here, once it is time to try again or no other node is left.
    mutating func forgetInability(at now: ClusterInstant) {
        if let unableUntil, unableUntil <= now.boottime || !hasOther { self.unableUntil = nil }
    }

    private mutating func reportOwner() {
        guard let owner = clusterState.ownerNode, owner.session != session else {
            ownedElsewhere = nil
            return
        }
        guard ownedElsewhere != owner.session else { return }
        ownedElsewhere = owner.session
        steps.append(.report(.ownedElsewhere(owner: owner.url)))
    }

    /// The reason for which the session must end; nil where it need not.
    private var reasonToEndSession: String? {
        guard isOwn else { return nil }
        if isSkewed { return "the clock of this node is off" }
        if unableUntil != nil { return "another node may be able to use the log" }
        return isFenced ? "appends of this node are refused" : nil
    }

    private mutating func adoptTaken(at now: ClusterInstant) {
        guard let owner = clusterState.owner, let adoptAt, adoptAt <= now.boottime, !hasHostWork else { return }
        self.adoptAt = nil
        isAdopting = true
        steps.append(.adopt(owner))
    }

    private mutating func takeOver(at now: ClusterInstant) {
        guard let owner = clusterState.owner, !isTaking, !isUnblocking else { return }
        let isFree = !clusterState.nodes.contains { $0.session == owner.session }
        // A log that this session owns without having learnt of its take is taken once more, which makes the
        // content certain.
        guard isOwn ? !isConfirmed : isFree && clusterState.plannedOwner == session else { return }
        isTaking = true
        let order = TakeOrder(
            epoch: owner.epoch, from: owner.session, session: session,
            clock: CalendarPosition.at(realtime: now.realtime))
        call(.take(order), at: now)
    }
}
