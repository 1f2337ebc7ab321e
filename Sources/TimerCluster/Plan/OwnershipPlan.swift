public import TimerLog

/// Which node is to own which partition: a pure function of the nodes, so all nodes come to the same plan.
///
/// Each partition goes to the node that ranks highest for it (rendezvous hashing), partitions in order, and a node that has
/// its share gets no more. The rank rests on the node's URL, so a restart moves nothing. Thaler and Ravishankar, "Using
/// name-based mappings to increase hit rates", 1998.
public struct OwnershipPlan: Sendable, Equatable {
    /// The session that is to own each partition; nil where there is no node to own any.
    public let sessions: [Int64?]
    /// Whether one node is to own all partitions, as some node can't be forwarded to.
    public let isOneOwner: Bool

    /// Makes the plan.
    ///
    /// - Parameters:
    ///   - nodes: the live ones.
    ///   - firstOwner: the session that owns partition 0.
    ///   - count: how many partitions there are.
    public init(nodes: [ClusterNode], firstOwner: Int64?, partitions count: Int) {
        let staying = nodes.filter { !$0.isLeaving }
        isOneOwner = nodes.contains { $0.speaks == 0 }
        if isOneOwner {
            let owner = staying.first { $0.session == firstOwner } ?? staying.min { $0.isBefore($1) }
            sessions = [Int64?](repeating: owner?.session, count: count)
        } else {
            sessions = Self.spread(count, over: staying)
        }
    }

    private static func spread(_ count: Int, over nodes: [ClusterNode]) -> [Int64?] {
        guard !nodes.isEmpty else { return [Int64?](repeating: nil, count: count) }
        let nodes = nodes.sorted { $0.session < $1.session }
        let seeds = nodes.map { seed($0.url) }
        let share = (count + nodes.count - 1) / nodes.count
        var owned = [Int](repeating: 0, count: nodes.count)
        return (0..<count).map { partition in
            var best = -1
            var highest: UInt64 = 0
            for index in nodes.indices where owned[index] < share {
                let rank = rank(seeds[index], partition)
                if best < 0 || rank > highest { (best, highest) = (index, rank) }
            }
            owned[best] += 1
            return nodes[best].session
        }
    }

    /// FNV-1a of the URL. All versions of timerd must agree on it, as on `rank`.
    private static func seed(_ url: String) -> UInt64 {
        url.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// The rank of a node for a partition: both mixed, by the finaliser of SplitMix64.
    private static func rank(_ seed: UInt64, _ partition: Int) -> UInt64 {
        var mixed = seed &+ (UInt64(partition) &+ 1) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

extension ClusterNode {
    fileprivate func isBefore(_ other: ClusterNode) -> Bool { (url, session) < (other.url, other.session) }
}
