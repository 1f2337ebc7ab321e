import TestSupport
import TimerCluster
import TimerLog

/// A membership whose directory is the test itself.
struct MembershipBench {
    static let millisecond: Int64 = 1_000_000
    var membership: Membership
    var timing: MembershipTiming { membership.timing }
    var now = ClusterInstant(boottime: 1_000_000_000, realtime: 1_700_000_000_000_000_000)
    /// The steps that were asked for and are not done yet, calls aside.
    var steps: [MembershipStep] = []
    /// Calls without an answer.
    var calls: [DirectoryCall] = []
    /// The other nodes, the owner and the format, as the directory answers them.
    var others: [ClusterNode] = []
    var owner = LogOwner(epoch: 0, session: 0)
    /// Position of the newest record in the log.
    var end: Int64 = 0
    var format = 2
    /// Whether the last beat announced that the node leaves.
    var isLeaving = false
    /// The nanoseconds by which the directory's calendar is behind the node's.
    var skew: Int64 = 0

    init() {
        let sessions = SessionNumbers(first: 10)
        membership = Membership(
            NodeProfile(url: "http://b", reads: 2), at: now, newSession: { sessions.next() })
    }

    /// Another node.
    static func node(
        _ session: Int64, _ url: String, beat: Int64 = 0, skew: Int64? = nil, followed: Int64? = nil
    ) -> ClusterNode {
        ClusterNode(
            session: session, beat: beat, url: url, reads: 2, skew: skew, memory: followed.map { .through($0) } ?? .cold
        )
    }

    mutating func pass(milliseconds: Int64) {
        now.boottime += milliseconds * Self.millisecond
        now.realtime += milliseconds * Self.millisecond
    }

    mutating func sort(_ made: [MembershipStep]) {
        for step in made {
            if case .call(let call) = step { calls.append(call) } else { steps.append(step) }
        }
    }

    mutating func wake() { sort(membership.wake(at: now)) }

    /// Passes time until the next thing is due.
    mutating func sleep() {
        now.realtime += max(0, membership.nextWake - now.boottime)
        now.boottime = max(now.boottime, membership.nextWake)
        wake()
    }

    func view(isLive: Bool = true) -> ClusterView {
        let me = ClusterNode(
            session: membership.session, url: "http://b", reads: 2, isLeaving: isLeaving)
        return ClusterView(
            isLive: isLive, nodes: ((isLive ? [me] : []) + others).sorted { $0.session < $1.session },
            owner: owner, end: end, format: format, realtime: now.realtime - skew)
    }

    mutating func answer(_ call: DirectoryCall, _ answer: DirectoryAnswer) {
        calls.removeAll { $0 == call }
        sort(membership.answered(call, answer, at: now))
    }

    /// Answers a call as a directory without other faults would.
    mutating func answerAsAsked(_ call: DirectoryCall) {
        switch call.request {
        case .join, .leave: answer(call, .done)
        case .beat(let beat):
            isLeaving = beat.isLeaving
            answer(call, .view(view()))
        case .end: answer(call, .ended(true))
        case .endConnections, .forget: answer(call, .count(0))
        case .take(let order), .give(let order):
            owner = LogOwner(epoch: order.epoch + 1, session: order.session)
            answer(call, .take(.taken(Barrier(epoch: owner.epoch, previous: 0, position: 1))))
        }
    }

    /// Answers every call but takes, also those that follow from the answers.
    mutating func settle() {
        wake()
        while let call = calls.first(where: { $0.order == nil }) { answerAsAsked(call) }
    }

    /// Answers every call, and carries out the steps that are asked for.
    mutating func settleAll() {
        settle()
        while !calls.isEmpty || !todo.isEmpty {
            while let call = calls.first { answerAsAsked(call) }
            for step in todo { perform(step) }
        }
    }

    /// Adoptions and drops that were asked for.
    var todo: [MembershipStep] {
        steps.filter {
            switch $0 {
            case .adopt, .drop: true
            default: false
            }
        }
    }

    mutating func perform(_ step: MembershipStep, _ error: StoreError? = nil) {
        steps.removeAll { $0 == step }
        switch step {
        case .adopt(let owner): sort(membership.adopted(owner, error, at: now))
        case .drop: sort(membership.dropped(at: now))
        default: break
        }
    }

    /// The steps by which a standby reads on.
    var reads: [MembershipStep] { steps.filter { if case .read = $0 { true } else { false } } }

    /// The take-overs that wait for an answer.
    var takes: [TakeOrder] { calls.compactMap(\.order) }

    /// The beat that waits for an answer.
    var beat: DirectoryCall? { calls.first { if case .beat = $0.request { true } else { false } } }

    /// The position that the beat which waits for an answer promises; 0 where none does.
    var promised: Int64 {
        guard case .beat(let beat)? = beat?.request else { return 0 }
        return beat.promised
    }

    func reports(_ event: ClusterEvent) -> Bool { steps.contains(.report(event)) }
}

extension DirectoryCall {
    /// The order of a take.
    var order: TakeOrder? { if case .take(let order) = request { order } else { nil } }
}
