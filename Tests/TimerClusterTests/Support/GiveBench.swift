import TimerCluster
import TimerLog

/// A node that owns all partitions of a cluster, and other nodes that a test plays by hand.
struct GiveBench {
    static let second: Int64 = 1_000_000_000
    var bench: MembershipBench
    /// Nodes whose beats go on.
    private var beating: Set<Int64> = []

    /// - Parameter alone: for how long the node was, in seconds.
    init(partitions: Int = 8) {
        bench = MembershipBench(partitions: partitions, speaks: 1)
        bench.settleAll()
        bench.steps = []
    }

    var session: Int64 { bench.membership.session }
    var standing: ClusterStanding { bench.membership.standing }

    /// Another node appears, and beats.
    mutating func join(_ session: Int64, _ url: String) {
        bench.others.append(ClusterNode(session: session, url: url, reads: 2, speaks: 1))
        beating.insert(session)
    }

    /// A node beats no more, and its session is ended by somebody.
    mutating func die(_ session: Int64) { bench.others.removeAll { $0.session == session } }

    /// Lets time pass; the directory answers all but takes and gives.
    mutating func pass(milliseconds: Int64) {
        let end = bench.now.boottime + milliseconds * MembershipBench.millisecond
        while true {
            while let call = bench.calls.first(where: { $0.order == nil && $0.give == nil }) {
                if case .beat = call.request {
                    for index in bench.others.indices { bench.others[index].beat += 1 }
                }
                bench.answerAsAsked(call)
            }
            guard bench.membership.nextWake <= end else { break }
            bench.sleep()
        }
        bench.now.realtime += end - bench.now.boottime
        bench.now.boottime = end
    }

    /// The partitions that the plan gives to `session`.
    func planned(for session: Int64, leaving: Bool = false) -> [Int] {
        var nodes = bench.others
        if !leaving { nodes.append(ClusterNode(session: self.session, url: "http://b", reads: 2, speaks: 1)) }
        let plan = OwnershipPlan(nodes: nodes, firstOwner: nil, partitions: bench.owners.count)
        return bench.owners.indices.filter { plan.sessions[$0] == session }
    }

    /// What was said since this was last asked.
    mutating func told() -> [PeerMessage] {
        let told = bench.steps.compactMap { step -> PeerMessage? in
            if case .tell(_, let message) = step { message } else { nil }
        }
        bench.steps.removeAll { if case .tell = $0 { true } else { false } }
        return told
    }

    mutating func hears(_ message: PeerMessage, from session: Int64) {
        bench.sort(bench.membership.heard(message, from: session, at: bench.now))
    }

    /// The target is so far with what it was asked for.
    mutating func answers(_ questions: [PeerMessage], rows: Int = 0, from session: Int64) {
        for case .prepare(let partition, let epoch, let askedAt) in questions {
            hears(.prepared(partition: partition, epoch: epoch, askedAt: askedAt, rows: rows), from: session)
        }
    }

    /// The partitions that the host is to release.
    var releases: [Int] {
        bench.steps.compactMap { if case .release(let partition) = $0 { partition } else { nil } }
    }

    /// The host has released a partition.
    mutating func released(_ partition: Int, promised clock: Int64? = 5000) {
        bench.steps.removeAll { $0 == .release(partition) }
        bench.sort(bench.membership.released(partition, promised: clock, at: bench.now))
    }

    /// The gives that wait for an answer.
    var gives: [DirectoryCall] { bench.calls.filter { $0.give != nil } }

    /// Goes on until the directory is asked to give one partition.
    ///
    /// - Returns: what it is asked.
    mutating func giveOne(to session: Int64, promised: Int64 = 5000) -> (call: DirectoryCall, order: TakeOrder)? {
        pass(milliseconds: 6000)
        let questions = told().filter { if case .prepare = $0 { true } else { false } }
        answers(Array(questions.suffix(1)), from: session)
        if let partition = releases.first { released(partition, promised: promised) }
        return gives.first.flatMap { call in call.give.map { (call, $0) } }
    }
}

extension DirectoryCall {
    /// The order of a give.
    var give: TakeOrder? { if case .give(let order) = request { order } else { nil } }
}
