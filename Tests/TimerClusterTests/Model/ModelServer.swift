import Platform
import TimerCluster
import TimerLog

/// A server of the model, as a value: its real membership, the steps that this has asked for and that are not done, and
/// the log that it serves.
struct ModelServer {
    /// The threads, each of which waits for one statement at a time: that of beats, that of the directory's other
    /// calls, that of the host's work, and the committer.
    enum Lane: Int, CaseIterable {
        case urgent, ordinary, host, committer
    }

    /// A statement under way.
    struct Flight {
        enum Stage {
            case sent
            case planned(ModelPlan)
            case done(ModelReply)
        }

        var statement: ModelStatement
        var stage = Stage.sent
        /// Whether the statement takes its time: each of its phases, and its answer, may come whenever.
        var isHeld = false
    }

    /// The work of the host.
    enum Work: Equatable {
        case adopt(LogOwner)
        case adopted(LogOwner, StoreError?)
        case drop
        case release
    }

    /// The log as the server serves it.
    struct Served: Hashable {
        /// The committer's state.
        enum Task: Hashable {
            case idle
            case appending
            /// The append wrote nothing, and the end of the log is read to find out why.
            case looking
            /// The outcome is unknown: the epoch is read, a further one begun, and then the rows are read.
            case settling, reopening
            case reading(ModelDatabase.Row)
            /// The row is durable, and waits for the lease to be shown.
            case landed
            /// The log is read again.
            case folding
        }

        let session: Int64
        /// The epoch, the key of the newest row, and the position of the newest record, as `LogEnd` has them.
        var epoch: Int64
        var tail: Int64
        var last: Int64
        var task = Task.idle
        /// The row whose client waits.
        var row: ModelDatabase.Row?
        var appendedAt = -1
        /// The newest position that was given out.
        var givenOut: Int64
    }

    static let reads = 2

    var membership: Membership
    var leaseEnd: Int64 = .min
    var served: Served?
    /// Whether the outcome of the newest append is open, as in `OpenLog`: it outlasts the loss of the log.
    var isUnsettled = false
    /// The calls that wait for the one under way.
    var waiting: [DirectoryCall] = []
    var flights: [Flight?] = [nil, nil, nil, nil]
    var work: [Work] = []
    /// Whether the host's work takes its time.
    var isWorkHeld = false
    var isReleasing = false
    var isPaused = false
    /// Position of the newest record that the server has read as a standby.
    var read: Int64?
    /// The number of sessions so far.
    var sessions: Int64

    var isAwake: Bool { !isPaused && !membership.hasLeft }

    subscript(lane: Lane) -> Flight? {
        get { flights[lane.rawValue] }
        set { flights[lane.rawValue] = newValue }
    }

    /// How much of the log a beat reports as held.
    var memory: LogMemory { (served?.last ?? read).map { .through($0) } ?? .cold }

    /// Sends a call, or queues it until its thread is free.
    mutating func send(_ call: DirectoryCall) {
        let lane = call.isUrgent ? Lane.urgent : .ordinary
        if self[lane] == nil {
            self[lane] = Flight(statement: .call(call.reporting(memory)))
        } else {
            waiting.append(call)
        }
    }

    /// Frees a thread, which makes the next call.
    mutating func free(_ lane: Lane) {
        self[lane] = nil
        guard lane == .urgent || lane == .ordinary,
            let next = waiting.firstIndex(where: { $0.isUrgent == (lane == .urgent) })
        else { return }
        send(waiting.remove(at: next))
    }
}
