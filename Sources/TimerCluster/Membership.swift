public import TimerLog

/// A node's part in a cluster, as a state machine: its session, its lease, which sessions it ends and when it takes
/// the log. It does no I/O and reads no clock; each event returns the steps to do.
///
/// A session is joined, then beats. A node that finds its session ended drops the log and begins a new session, and
/// no lease of a new session begins before the log is dropped.
public struct Membership: Sendable {
    enum Phase: Sendable, Equatable {
        /// The session is to be entered.
        case joining
        /// The session beats.
        case member
        /// The session is to be ended by the node itself.
        case departing(isLast: Bool)
        /// The last session has ended.
        case left
    }

    /// The beats of another node, as this one has seen them.
    struct Observation: Sendable {
        var beat: Int64
        var unchanged: Int64 = 0
    }

    /// The intervals and limits.
    public let timing: MembershipTiming
    let profile: NodeProfile
    let newSession: @Sendable () -> Int64
    /// The state of the cluster, as far as the node shows it.
    public internal(set) var clusterState: ClusterState
    var phase = Phase.joining
    var steps: [MembershipStep] = []

    // The session's own calls: one at a time.
    var isCallUnderWay = false
    var nextCall: Int64
    var lastPromise: Int64 = 0
    /// The position that was really promised, once the node leaves.
    var promisedAtEnd = Int64.max
    var leaseEnd: Int64 = .min
    var isLeaseShown = false
    var hasLostLease = false
    /// Whether the node will stop soon (SIGTERM), so that it no longer takes the log.
    var isDraining = false
    /// Whether the calendar is off, and the others are right.
    var isSkewed = false
    var isSkewReported = false

    /// The instant until which the node leaves the log to others, which could not be used here; nil where it can own it.
    var unableUntil: Int64?

    // The other nodes.
    var observations: [Int64: Observation] = [:]
    var lastView: Int64?
    /// The end of the log that a standby still lacks, by its session.
    var missing: [Int64: Int64] = [:]
    var ending: Set<Int64> = []
    var gone: Set<Int64> = []
    var nextForget: Int64 = .min
    var ownedElsewhere: Int64?

    // The owner of the log.
    /// The count of events, such as a take, that make every view asked for earlier unreliable about the log's owner.
    var changes = 0
    /// The value of `changes` when the newest beat was sent.
    var changesAtBeat = 0
    /// Whether only a view that is asked for from now on shows the owner of the log.
    var isOwnerDoubtful = true

    // The log.
    var isTaking = false
    /// Whether connections of the old owner that block a take are being closed.
    var isUnblocking = false
    /// Whether a take by this session was answered, so that its log is certain.
    var isConfirmed = false
    /// The instant from which the log may be adopted; nil where it is not to be.
    var adoptAt: Int64?
    var isAdopting = false
    var isDropping = false
    /// Whether the host ends the log, to hand it over.
    var isReleasing = false
    /// The hand-over under way.
    var handOver: HandOver?
    /// The instant since which the owner is known to be leaving; nil where it is not.
    var ownerLeaves: Int64?
    /// Whether an append was fenced.
    var isFenced = false
    /// The end of another node's log, as it was last reported to the host.
    var reportedEnd: Int64 = 0
    /// The position through which the owner of that log may have shown it, as it was last reported.
    var reportedShown: Int64?
    /// The instant of the newest `reconcile`.
    var reconciledAt: Int64 = .min

    /// Makes the membership of a node that has not joined yet.
    ///
    /// - Parameter newSession: draws the number of a session, positive.
    public init(
        _ profile: NodeProfile, timing: MembershipTiming = MembershipTiming(), at now: ClusterInstant,
        newSession: @escaping @Sendable () -> Int64
    ) {
        self.profile = profile
        self.timing = timing
        self.newSession = newSession
        clusterState = ClusterState(session: newSession())
        nextCall = now.boottime
    }

    /// The session's number.
    public var session: Int64 { clusterState.session }

    /// Whether the last session has ended: nothing is to be done any more.
    public var hasLeft: Bool { phase == .left }

    /// The instant at which `wake` must be called, in nanoseconds since boot.
    public var nextWake: Int64 {
        var next: Int64 = .max
        let waitsForHost = phase == .joining && hasHostWork
        if !isCallUnderWay && phase != .left && !waitsForHost { next = nextCall }
        if isLeaseShown { next = min(next, leaseEnd) }
        if let limit = handOverLimit { next = min(next, limit) }
        // An adoption that is due and was not begun waits for an answer, not for time.
        guard phase == .member, let adoptAt, adoptAt > reconciledAt else { return next }
        return min(next, adoptAt)
    }

    /// Does what the time makes due.
    public mutating func wake(at now: ClusterInstant) -> [MembershipStep] {
        if let adoptAt, adoptAt > reconciledAt, adoptAt <= now.boottime { reconcile(at: now) }
        expireHandOver(at: now)
        return finish(at: now)
    }

    /// Whether the host is opening the log, or ending it.
    var hasHostWork: Bool { isAdopting || isDropping || isReleasing }

    /// Takes the directory's answer to a call.
    public mutating func answered(
        _ call: DirectoryCall, _ answer: DirectoryAnswer, at now: ClusterInstant
    ) -> [MembershipStep] {
        if call.session == session { take(answer, to: call, at: now) }
        return finish(at: now)
    }

    /// Takes the outcome of an adoption of the log for the session `owner.session`.
    public mutating func adopted(
        _ owner: LogOwner, _ error: StoreError?, at now: ClusterInstant
    ) -> [MembershipStep] {
        isAdopting = false
        // A log that was taken again meanwhile is dropped and adopted again.
        let isOurs = phase == .member && owner.session == session && isOwn && adoptAt == nil
        switch (error, isOurs) {
        case (nil, true): clusterState.isServing = true
        case (nil, false): drop()
        case (let error?, true):
            steps.append(.report(.adoptionFailed(error)))
            if error.kind == .fenced { doubtOwner(at: now) }
            adoptAt = now.boottime + timing.adoptionPause
            leaveToOthers(after: error, at: now)
        case (_?, false): break
        }
        reconcile(at: now)
        return finish(at: now)
    }

    /// Notes that the log is no longer served.
    public mutating func dropped(at now: ClusterInstant) -> [MembershipStep] {
        isDropping = false
        reconcile(at: now)
        return finish(at: now)
    }

    /// Notes that an append to the served log was refused, as another node owns the log.
    public mutating func fenced(at now: ClusterInstant) -> [MembershipStep] {
        guard clusterState.isServing else { return [] }
        lose()
        isFenced = true
        doubtOwner(at: now)
        return finish(at: now)
    }

    /// Notes that the node will stop soon: it no longer takes the log, and the next beat reports that.
    public mutating func drain(at now: ClusterInstant) -> [MembershipStep] {
        isDraining = true
        if phase == .member { nextCall = now.boottime }
        return finish(at: now)
    }

    /// Ends the node's session for good.
    ///
    /// - Parameter promised: position beyond which the node has given out and shown nothing.
    public mutating func leave(promised: Int64 = .max, at now: ClusterInstant) -> [MembershipStep] {
        guard phase != .left else { return [] }
        promisedAtEnd = promised
        endSession(.departing(isLast: true), at: now)
        return finish(at: now)
    }

    mutating func call(_ request: DirectoryCall.Request, at now: ClusterInstant) {
        steps.append(.call(DirectoryCall(session: session, issuedAt: now, request: request)))
    }

    /// Makes the host drop the log, unless it ends the log already.
    mutating func drop() {
        guard !isReleasing else { return }
        isDropping = true
        steps.append(.drop)
    }

    mutating func finish(at now: ClusterInstant) -> [MembershipStep] {
        noteLease(at: now)
        sendNext(at: now)
        defer { steps = [] }
        return steps
    }

    private mutating func take(_ answer: DirectoryAnswer, to call: DirectoryCall, at now: ClusterInstant) {
        if call.isUrgent { isCallUnderWay = false }
        // The answers to a session that is being ended are of no use to the next one.
        guard call.isUrgent || phase == .member else { return }
        switch (call.request, answer) {
        case (.beat(let beat), .view(let view)): took(view, to: beat, sentAt: call.issuedAt, at: now)
        case (.join, .done): joined(at: now)
        case (.leave, .done): departed(at: now)
        case (.join, .failed(let error)), (.beat, .failed(let error)), (.leave, .failed(let error)):
            nextCall = now.boottime + timing.pause
            if !clusterState.isUnreachable { steps.append(.report(.unreachable(error))) }
            clusterState.isUnreachable = true
        case (.take(let order), let answer): tookOutcome(answer, of: order, at: now)
        case (.give(let order), let answer): gaveOutcome(answer, of: order, at: now)
        case (.end(let node), let answer): endAnswered(node, answer, at: now)
        case (.endConnections(let session), let answer):
            if case .count(let count) = answer, count > 0 {
                steps.append(.report(.connectionsEnded(session: session, count: count)))
            }
            isUnblocking = false
            reconcile(at: now)
        default: break
        }
    }
}

/// The facts that a node reports about itself to the others, the same in each of its sessions.
public struct NodeProfile: Sendable, Equatable {
    /// The URL at which the node can be reached.
    public var url: String
    /// The address, as `host:port`, at which the node takes requests that other nodes forward; empty where it takes
    /// none.
    public var peer: String
    /// The newest row format that the node reads, and the one in which it writes.
    public var reads: Int

    /// Makes a profile; see the members.
    public init(url: String, peer: String = "", reads: Int) {
        self.url = url
        self.peer = peer
        self.reads = reads
    }
}
