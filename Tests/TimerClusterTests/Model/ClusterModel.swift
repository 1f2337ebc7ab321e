import Platform
import TimerCluster
import TimerLog

/// Two servers, the database that they share, and the statements between them, as a value: a state of the exploration.
///
/// Time advances in ticks of half a second, the interval of beats. Within a tick everything that is due is done, unless
/// it is held: a fault, of which there is a bounded number. What is held may go on at any later moment, or never.
struct ClusterModel {
    /// A mistake that the exploration is to find.
    enum Bug: Sendable {
        case none
        /// A take does not look at the epoch, nor whether the owner has ended.
        case takeAtAnyEpoch
        /// A take writes no barrier.
        case takeWithoutBarrier
        /// A take passes over what the old owner has promised.
        case takeForgetsPromise
        /// An append looks neither at the epoch nor at the end of the log, nor at its key.
        case appendWithoutFence
        /// A server shows the log after its lease has ended.
        case showsAfterLease
        /// A server that gives the log away goes on with the append whose outcome is open.
        case giveKeepsAppend
        /// The barrier of a give ignores the positions that were given out.
        case giveForgetsClaims
        /// A row whose outcome is unknown is appended again, at the next free position.
        case appendsElsewhere
        /// A row whose outcome is unknown is taken for durable.
        case unknownIsDurable
    }

    /// The bounds of an exploration.
    struct Bounds: Sendable {
        /// The ticks after the start.
        var ticks = 10
        /// The faults: statements and steps that are held, and processes that are paused or killed.
        var faults = 2
        var appends = 0
        /// Whether a server appends a row in each tick; else in some, in all ways.
        var appendsAlways = false
        var handOvers = 0
        /// Whether processes may be killed and started again.
        var kills = false
        /// Whether either server may come first in a tick; else it is server 0.
        var bothOrders = false
        /// Whether the servers have only just been started.
        var isCold = false
        /// Whether a server may leave for good.
        var leaves = false
        /// The lease, in ticks; a session is ended after a quarter more.
        var lease: Int64 = 4
    }

    static let tick: Int64 = 500_000_000
    private static let start = ClusterInstant(boottime: 1_000_000_000_000, realtime: 1_700_000_000_000_000_000)

    let bug: Bug
    var time = 0
    /// The server that comes first in this tick: the other one does nothing before it has done all that is due.
    var first = 0
    var servers: [ModelServer] = []
    var database: ModelDatabase
    /// The statements that nobody waits for any more, which may still be carried out.
    var strays: [ModelServer.Flight] = []
    var left: Bounds
    var acknowledged: [ModelDatabase.Row] = []
    var requests = 0
    /// The newest position up to which a server has shown that no further record comes, and its session.
    var claimed: (position: Int64, session: Int64) = (0, 0)
    /// The number of rows and of acknowledged ones when the log was last looked at.
    var checked = (rows: 0, acknowledged: 0)
    /// The promise that is broken; nil while none is.
    var broken: String?
    /// Events that the exploration is to have come across.
    var seen: Set<Milestone> = []
    private let sessions: SessionSource

    /// An event that shows that the exploration got somewhere.
    enum Milestone: CaseIterable {
        case taken, given, refusedTake, fenced, landed, absent, late, resumedAfterLease, withheld
    }

    /// Makes the cluster without servers.
    init(_ bounds: Bounds, bug: Bug) {
        self.bug = bug
        left = bounds
        database = ModelDatabase(bug: bug)
        sessions = SessionSource()
        for index in 0..<2 { servers.append(server(index)) }
    }

    private func server(_ index: Int, sessions first: Int64 = 0) -> ModelServer {
        let number = Int64(index + 1) * 100 + first
        sessions.next = number
        var timing = MembershipTiming()
        timing.lease = left.lease * Self.tick
        timing.silence = timing.lease * 5 / 4
        let membership = Membership(
            NodeProfile(url: "http://\(index)", reads: ModelServer.reads), timing: timing, at: now(index),
            newSession: { [sessions] in sessions.draw() })
        return ModelServer(membership: membership, sessions: number + 1)
    }

    /// The readings of a server's clocks. The calendar of server 0 is ahead by a tick.
    func now(_ index: Int) -> ClusterInstant {
        let passed = Int64(time) * Self.tick
        return ClusterInstant(
            boottime: Self.start.boottime + passed,
            realtime: Self.start.realtime + passed + (index == 0 ? Self.tick : 0))
    }

    func calendar(_ index: Int) -> Int64 { CalendarPosition.at(realtime: now(index).realtime) }

    /// Whether a server may show the log.
    func isShowing(_ index: Int) -> Bool {
        let server = servers[index]
        return server.isAwake && server.served != nil && isLeaseValid(index)
    }

    func isLeaseValid(_ index: Int) -> Bool {
        bug == .showsAfterLease || servers[index].leaseEnd > now(index).boottime
    }

    /// Passes an event to a membership, and takes the steps that it asks for.
    mutating func change(_ index: Int, _ event: (inout Membership, ClusterInstant) -> [MembershipStep]) {
        sessions.next = servers[index].sessions
        let steps = event(&servers[index].membership, now(index))
        servers[index].sessions = sessions.next
        for step in steps { perform(step, index) }
    }

    private mutating func perform(_ step: MembershipStep, _ index: Int) {
        switch step {
        case .call(let call): servers[index].send(call)
        case .extendLease(let end): servers[index].leaseEnd = max(servers[index].leaseEnd, end)
        case .revokeLease: servers[index].leaseEnd = .min
        case .adopt(let owner): servers[index].work.append(.adopt(owner))
        case .drop: servers[index].work.append(.drop)
        case .release:
            servers[index].work.append(.release)
            servers[index].isReleasing = true
        case .read(let end, _): servers[index].read = end
        case .report(.fenced): seen.insert(.fenced)
        case .handOverEnded, .report: break
        }
    }

    /// Kills a process, and starts it again.
    mutating func restart(_ index: Int) {
        for flight in servers[index].flights { if let flight { leave(flight) } }
        servers[index] = server(index, sessions: servers[index].sessions - Int64(index + 1) * 100)
    }

    /// Leaves a statement whose sender does not wait for it.
    mutating func leave(_ flight: ModelServer.Flight) {
        if case .done = flight.stage { return }
        strays.append(flight)
    }
}

/// The numbers of sessions. A membership draws them from a closure, so each state of the exploration sets the next one.
final class SessionSource: Sendable {
    private let number = Guarded<Int64>(0)

    var next: Int64 {
        get { number.withLock { $0 } }
        set { number.withLock { $0 = newValue } }
    }

    func draw() -> Int64 {
        number.withLock { number in
            defer { number += 1 }
            return number
        }
    }
}
