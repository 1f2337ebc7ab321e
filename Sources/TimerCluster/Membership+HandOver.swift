import TimerLog

/// The hand-over of the log to another node.
///
/// The owner reports that it is leaving, and all nodes beat faster once they have seen that. When they have, and the other
/// node has read what the log held when the hand-over began, the host ends the log: it commits what was taken, and shows
/// nothing more. Then the log is given, in one statement. Where the outcome of that stays unknown, the node looks who
/// owns the log, and takes it once more where that is still itself.
extension Membership {
    /// A hand-over under way.
    struct HandOver: Sendable {
        enum Stage: Sendable, Equatable {
            /// The other node is to read the log up to `end`, and each node to beat after the count in `beats`, by its
            /// session; a view of this node as leaving shows both.
            case following(end: Int64?, beats: [Int64: Int64])
            /// The host ends the log.
            case releasing
            /// The directory is asked to give the log; so many times before.
            case giving(tries: Int)
        }

        /// The node that is to own the log, as it was when it was chosen.
        var node: ClusterNode
        /// Whether that node was named; else another takes its place where it can't own the log any more.
        let isNamed: Bool
        /// The instant by which the node must have read the log, and that up to which the host waits for what is under way
        /// beside requests.
        let (until, patientUntil): (Int64, Int64)
        var stage = Stage.following(end: nil, beats: [:])
    }

    /// The most times that the directory is asked to give the log.
    static let mostGives = 3

    /// Whether the log is being handed over.
    public var isHandingOver: Bool { handOver != nil }

    /// Begins to hand the log over; `MembershipStep.handOverEnded` tells the outcome.
    ///
    /// - Parameters:
    ///   - url: the URL of the node that is to own the log; nil: of those that have read it, the one that has read most.
    ///   - patience: nanoseconds for which the other node, and then deliveries and streams under way, are waited for at
    ///     most.
    public mutating func handOver(to url: String?, patience: Int64, at now: ClusterInstant) -> [MembershipStep] {
        switch successor(at: url) {
        case .success(let node):
            handOver = HandOver(
                node: node, isNamed: url != nil, until: now.boottime + min(patience, timing.handOver),
                patientUntil: now.boottime + patience)
            nextCall = now.boottime
        case .failure(let refusal): steps.append(.handOverEnded(.refused(refusal)))
        }
        return finish(at: now)
    }

    /// Returns the node to which the log can be handed over.
    private func successor(at url: String?) -> Result<ClusterNode, HandOverRefusal> {
        guard phase == .member, clusterState.isServing, isOwn else { return .failure(.notOwner) }
        guard handOver == nil else { return .failure(.underWay) }
        guard url != profile.url else { return .failure(.isOwner) }
        let named = clusterState.nodes.filter { $0.session != session && (url == nil || $0.url == url) }
        guard url == nil || !named.isEmpty else { return .failure(.unknownServer) }
        return Self.mostRead(of: named).map { .success($0) } ?? .failure(.nobodyFit)
    }

    /// Returns the node that has read most of the log, of those that may own it.
    private static func mostRead(of nodes: [ClusterNode]) -> ClusterNode? {
        nodes.filter(\.isFit).max { ($0.followed ?? 0, $1.url) < ($1.followed ?? 0, $0.url) }
    }

    /// Returns the node that is to own the log, as it is now: the chosen one, or another that may take its place.
    ///
    /// - Parameter mayReread: whether the chosen node may be about to read the log again.
    private func present(_ handOver: HandOver, mayReread: Bool) -> ClusterNode? {
        let others = clusterState.nodes.filter { $0.session != session }
        let chosen = others.first { $0.session == handOver.node.session }
        if let chosen, !chosen.isLeaving, mayReread || chosen.followed != nil { return chosen }
        return handOver.isNamed ? nil : Self.mostRead(of: others)
    }

    /// Goes on with a hand-over by a view that shows this node as leaving.
    mutating func followHandOver(_ view: ClusterView, at now: ClusterInstant) {
        guard var handOver, case .following(let end, var beats) = handOver.stage else { return }
        guard isOwn, clusterState.isServing else { return endHandOver(.refused(.notOwner)) }
        guard let node = present(handOver, mayReread: true) else { return endHandOver(.refused(.nobodyFit)) }
        handOver.node = node
        let others = clusterState.nodes.filter { $0.session != session }
        for other in others where beats[other.session] == nil { beats[other.session] = other.beat }
        handOver.stage = .following(end: end ?? view.end, beats: beats)
        // A node that begins to read the log again has followed nothing for a while.
        if node.followed ?? 0 >= end ?? view.end, others.allSatisfy({ $0.beat > beats[$0.session] ?? 0 }) {
            handOver.stage = .releasing
            isReleasing = true
            steps.append(.release(patience: max(0, handOver.patientUntil - now.boottime)))
        }
        self.handOver = handOver
    }

    /// Ends a hand-over whose node has not read the log in time, as far as is known.
    mutating func expireHandOver(at now: ClusterInstant) {
        guard let limit = handOverLimit, limit <= now.boottime else { return }
        endHandOver(.refused(clusterState.isUnreachable ? .unreachable : .tooFarBehind))
    }

    /// The instant by which the other node must have read the log; nil where none is waited for.
    var handOverLimit: Int64? {
        guard let handOver, case .following = handOver.stage else { return nil }
        return handOver.until
    }

    /// Notes that the host has ended the log.
    ///
    /// - Parameter claimed: position beyond which the node has given out and shown nothing; nil where the host had no
    ///   log.
    public mutating func released(_ claimed: Int64?, at now: ClusterInstant) -> [MembershipStep] {
        isReleasing = false
        clusterState.isServing = false
        // The chosen node may have begun to leave while the host ended the log.
        if let claimed, let owner = clusterState.owner, var handOver, isOwn, !isFenced, phase == .member,
            let node = present(handOver, mayReread: false)
        {
            (handOver.node, handOver.stage) = (node, .giving(tries: 1))
            self.handOver = handOver
            let order = TakeOrder(epoch: owner.epoch, from: session, session: node.session, clock: claimed)
            call(.give(order), at: now)
        } else {
            takeBack(at: now)
        }
        return finish(at: now)
    }

    mutating func gaveOutcome(_ answer: DirectoryAnswer, of order: TakeOrder, at now: ClusterInstant) {
        guard let handOver, case .giving(let tries) = handOver.stage else { return }
        switch answer {
        case .take(.taken(let barrier)):
            changes += 1
            isConfirmed = false
            // A view may have shown the give, or a later owner, before the answer came.
            if barrier.epoch >= clusterState.owner?.epoch ?? 0 {
                clusterState.owner = LogOwner(epoch: barrier.epoch, session: order.session)
            }
            steps.append(.report(.handedOver(to: handOver.node.url)))
            endHandOver(.handedOver(to: handOver.node.url))
            reconcile(at: now)
        case .failed, .take(.blocked):
            // The same give once more: where the first one had its effect, the directory refuses this one.
            guard tries < Self.mostGives else { return takeBack(at: now) }
            self.handOver?.stage = .giving(tries: tries + 1)
            call(.give(order), at: now)
        default: takeBack(at: now)
        }
    }

    /// Gives the hand-over up after the log was ended: whoever the directory shows as its owner serves it.
    private mutating func takeBack(at now: ClusterInstant) {
        if handOver != nil { steps.append(.report(.handOverFailed)) }
        endHandOver(.failed)
        isConfirmed = false
        adoptAt = nil
        if phase == .member { doubtOwner(at: now) }
        reconcile(at: now)
    }

    /// Ends the hand-over, if there is one.
    mutating func endHandOver(_ outcome: HandOverOutcome) {
        guard handOver != nil else { return }
        handOver = nil
        steps.append(.handOverEnded(outcome))
    }

    /// The time from one beat to the next. A log that is about to change hands makes nodes beat faster, so that all of
    /// them soon see its new owner.
    mutating func beatInterval(at now: ClusterInstant) -> Int64 {
        guard isHandingOver || clusterState.ownerNode?.isLeaving == true else {
            ownerLeaves = nil
            return timing.beatInterval
        }
        let since = ownerLeaves ?? now.boottime
        ownerLeaves = since
        return now.boottime - since < 2 * timing.handOver ? timing.handOverInterval : timing.beatInterval
    }
}
