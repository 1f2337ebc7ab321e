import TimerCluster
import TimerLog

/// Visits every state that a cluster of two servers can reach within bounds, each once.
struct ModelExplorer {
    /// The way to a state, newest action last.
    private final class Trail {
        let action: ClusterModel.Action
        let before: Trail?

        init(_ action: ClusterModel.Action, after before: Trail?) {
            self.action = action
            self.before = before
        }
    }

    private(set) var states = 0
    private(set) var seen: Set<ClusterModel.Milestone> = []
    /// The promise that was broken first, and the way to it.
    private(set) var broken: String?

    /// Explores everything from a state in which server 0 serves and server 1 has read the log.
    init(_ bounds: ClusterModel.Bounds, bug: ClusterModel.Bug = .none) {
        var visited: Set<Int> = []
        var open: [(state: ClusterModel, trail: Trail?)] = [(Self.start(bounds, bug), nil)]
        visited.insert(open[0].state.fingerprint)
        while let (state, trail) = open.popLast() {
            states += 1
            for action in state.actions {
                var next = state
                next.take(action)
                seen.formUnion(next.seen)
                next.seen = []
                if let what = next.broken {
                    broken = Self.report(what, Trail(action, after: trail))
                    return
                }
                if visited.insert(next.fingerprint).inserted { open.append((next, Trail(action, after: trail))) }
            }
        }
    }

    /// Starts two servers, one action after the other, until one serves and the other is fit to.
    private static func start(_ bounds: ClusterModel.Bounds, _ bug: ClusterModel.Bug) -> ClusterModel {
        if bounds.isCold { return ClusterModel(bounds, bug: bug) }
        var calm = bounds
        (calm.faults, calm.appends, calm.handOvers, calm.leaves, calm.ticks) = (0, 0, 0, false, 20)
        var state = ClusterModel(calm, bug: bug)
        while !state.isSettled, let action = state.actions.first, state.broken == nil { state.take(action) }
        state.left = bounds
        state.seen = []
        return state
    }

    private static func report(_ what: String, _ trail: Trail?) -> String {
        var actions: [String] = []
        var next = trail
        while let one = next {
            actions.append("\(one.action)")
            next = one.before
        }
        return "\(what), after \(actions.count) actions:\n" + actions.reversed().joined(separator: "\n")
    }
}

extension ClusterModel {
    /// Whether server 0 serves, and knows that server 1 has read the log.
    var isSettled: Bool {
        let (owner, known) = (database.owner.session, servers[0].membership.clusterState.nodes)
        return isShowing(0) && known.contains { $0.session != owner && $0.isFit }
            && servers[1].membership.clusterState.owner?.session == owner
    }
}
