public import TimerLog

/// A node's part in a cluster, as a state machine: its session, its lease, which sessions it ends and which partitions it
/// takes. It does no I/O and reads no clock; each event returns what is to be done.
///
/// A session is joined, then beats. The node that finds its session ended drops everything and begins a new one, and no
/// lease of a new session begins before the last partition of the old one is dropped.
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

    /// What a node has seen of another's beats.
    struct Observation: Sendable {
        var beat: Int64
        var unchanged: Int64 = 0
    }

    let profile: NodeProfile
    let partitionCount: Int
    let newSession: @Sendable () -> Int64
    /// What others may know.
    public internal(set) var standing: ClusterStanding
    var phase = Phase.joining
    var steps: [MembershipStep] = []

    // The session's own calls: one at a time.
    var isCallUnderWay = false
    var nextCall: Int64
    var lastPromise: Int64 = 0
    /// What was really promised, once the node leaves.
    var promisedAtEnd = Int64.max
    var leaseEnd: Int64 = .min
    var isLeaseShown = false
    var hasLostLease = false
    var isUnreachable = false
    /// SIGTERM: nothing more is taken.
    var isDraining = false
    /// The calendar is off, and the others are right.
    var isSkewed = false
    var isSkewReported = false

    // What is known of others.
    var observations: [Int64: Observation] = [:]
    var lastView: Int64?
    var ending: Set<Int64> = []
    var gone: Set<Int64> = []
    var announced = 0
    var nextForget: Int64 = .min
    var standsBy: Int64?

    // The map of owners.
    var epochsKnown: Int64 = -1
    var isReadingOwners = false
    /// Partitions that were taken while the map was read.
    var changedWhileRead: Set<Int> = []
    /// When the last take was answered.
    var lastTake: Int64 = .min
    /// Counts what makes the map doubtful; the map was read when it stood at `doubtsRead`.
    var doubts = 1
    var doubtsRead = 0
    var doubtsAsked = 0

    // Partitions.
    var taking: Set<Int> = []
    var unblocking: Set<Int64> = []
    var justTook: [Int] = []
    /// Partitions whose take by this session was answered.
    var confirmed: Set<Int> = []
    /// Partitions to adopt, and from when on.
    var toAdopt: [Int: Int64] = [:]
    /// Partitions that are being adopted, and for which session.
    var adopting: [Int: Int64] = [:]
    var held: Set<Int> = []
    var dropsUnderWay = 0
    /// Partitions whose appends were fenced.
    var fencedPartitions: Set<Int> = []
    var pausedUntil: Int64 = .min
    /// Up to when everything that time allows was looked at.
    var reconciledAt: Int64 = .min

    /// A node that has not joined yet.
    ///
    /// - Parameters:
    ///   - partitions: how many partitions there are.
    ///   - newSession: draws the number of a session, positive.
    public init(
        _ profile: NodeProfile, partitions: Int, at now: ClusterInstant, newSession: @escaping @Sendable () -> Int64
    ) {
        self.profile = profile
        partitionCount = partitions
        self.newSession = newSession
        standing = ClusterStanding(session: newSession())
        nextCall = now.boottime
    }

    /// The session's number.
    public var session: Int64 { standing.session }

    /// Whether the last session has ended: nothing is to be done any more.
    public var hasLeft: Bool { phase == .left }

    /// When `wake` is to be called, in nanoseconds since boot.
    public var nextWake: Int64 {
        var next: Int64 = .max
        let waitsForHost = phase == .joining && hasHostWork
        if !isCallUnderWay && phase != .left && !waitsForHost { next = nextCall }
        if isLeaseShown { next = min(next, leaseEnd) }
        guard phase == .member else { return next }
        if hasPaused { next = min(next, pausedUntil) }
        // What is due and was not done waits for an answer, not for time.
        return toAdopt.values.reduce(next) { $1 > reconciledAt ? min($0, $1) : $0 }
    }

    /// Time has passed.
    public mutating func wake(at now: ClusterInstant) -> [MembershipStep] {
        if hasPaused && pausedUntil <= now.boottime {
            hasPaused = false
            reconcile(at: now)
        } else if toAdopt.values.contains(where: { $0 > reconciledAt && $0 <= now.boottime }) {
            reconcile(at: now)
        }
        return finish(at: now)
    }

    /// Whether the host is still busy with partitions of an old session.
    var hasHostWork: Bool { dropsUnderWay > 0 || !adopting.isEmpty }

    /// The directory has answered a call.
    public mutating func answered(
        _ call: DirectoryCall, _ answer: DirectoryAnswer, at now: ClusterInstant
    ) -> [MembershipStep] {
        if call.session == session { take(answer, to: call, at: now) }
        return finish(at: now)
    }

    /// A partition was adopted for the session `owner.session`, or could not be.
    public mutating func adopted(
        _ owner: PartitionOwner, _ error: StoreError?, at now: ClusterInstant
    ) -> [MembershipStep] {
        let partition = owner.partition
        adopting[partition] = nil
        let isOurs =
            phase == .member && owner.session == session && standing.owners[partition].session == session
            && !fencedPartitions.contains(partition)
        switch (error, isOurs) {
        case (nil, true): held.insert(partition)
        case (nil, false): drop([partition])
        case (let error?, true):
            steps.append(.report(.adoptionFailed(partition, error)))
            if error.kind == .fenced { doubts += 1 }
            toAdopt[partition] = now.boottime + MembershipTiming.adoptionPause
        case (_?, false): break
        }
        reconcile(at: now)
        return finish(at: now)
    }

    /// Partitions are no longer served.
    public mutating func dropped(_ partitions: [Int], at now: ClusterInstant) -> [MembershipStep] {
        dropsUnderWay -= 1
        return finish(at: now)
    }

    /// An append to a served partition was refused, as another node owns it.
    public mutating func fenced(_ partition: Int, at now: ClusterInstant) -> [MembershipStep] {
        guard held.contains(partition) else { return [] }
        lose([partition])
        fencedPartitions.insert(partition)
        doubts += 1
        reconcile(at: now)
        return finish(at: now)
    }

    /// The node is to stop soon: it takes nothing more, and the others learn so.
    public mutating func drain(at now: ClusterInstant) -> [MembershipStep] {
        isDraining = true
        if phase == .member { nextCall = now.boottime }
        return finish(at: now)
    }

    /// The node ends its last session.
    ///
    /// - Parameter promised: position beyond which none of its partitions has promised anything.
    public mutating func leave(promised: Int64 = .max, at now: ClusterInstant) -> [MembershipStep] {
        guard phase != .left else { return [] }
        promisedAtEnd = promised
        endSession(.departing(isLast: true), at: now)
        return finish(at: now)
    }

    var hasPaused: Bool {
        get { pausedUntil != .min }
        set { if !newValue { pausedUntil = .min } }
    }

    mutating func call(_ request: DirectoryCall.Request, at now: ClusterInstant) {
        steps.append(.call(DirectoryCall(session: session, issuedAt: now, request: request)))
    }

    mutating func drop(_ partitions: [Int]) {
        guard !partitions.isEmpty else { return }
        dropsUnderWay += 1
        steps.append(.drop(partitions.sorted()))
    }

    mutating func finish(at now: ClusterInstant) -> [MembershipStep] {
        noteLease(at: now)
        sendNext(at: now)
        if taking.isEmpty && !justTook.isEmpty {
            steps.append(.report(.took(justTook.sorted())))
            justTook = []
        }
        standing.servedCount = held.count
        defer { steps = [] }
        return steps
    }

    private mutating func take(_ answer: DirectoryAnswer, to call: DirectoryCall, at now: ClusterInstant) {
        if call.isUrgent { isCallUnderWay = false }
        // What a session has learnt that is being ended is of no use to the next one.
        guard call.isUrgent || phase == .member else { return }
        switch (call.request, answer) {
        case (.beat(let beat), .view(let view)): took(view, to: beat, sentAt: call.issuedAt, at: now)
        case (.join, .done): joined(at: now)
        case (.leave, .done): departed(at: now)
        case (.join, .failed(let error)), (.beat, .failed(let error)), (.leave, .failed(let error)):
            nextCall = now.boottime + MembershipTiming.pause
            if !isUnreachable { steps.append(.report(.unreachable(error))) }
            isUnreachable = true
        case (.readOwners, let answer): tookOwners(answer, at: now)
        case (.take(let order), let answer): tookOutcome(answer, of: order, at: now)
        case (.end(let node), let answer): endAnswered(node, answer, at: now)
        case (.endConnections(let session), let answer):
            if case .count(let count) = answer, count > 0 {
                steps.append(.report(.connectionsEnded(session: session, count: count)))
            }
            unblocking.remove(session)
            reconcile(at: now)
        default: break
        }
    }
}
