import Platform
import TestSupport
import TimerCluster
import TimerLog

/// Nodes of a cluster with their clocks, a directory in memory and the faults between them, on one thread. A seed
/// decides everything.
final class ClusterSimulation {
    /// A mistake that the simulation is to find.
    enum Bug: Sendable {
        case none
        /// The lease is timed by the calendar.
        case wallClockLease
        /// The lease counts from the answer of a beat.
        case leaseFromAnswer
        /// A take checks neither the epoch nor whether the owner's session was ended. Either check alone is enough,
        /// as a view shows both at once.
        case takeUnchecked
        /// An append does not look at the epoch.
        case appendWithoutEpoch
        /// A node that hands the log over still shows it.
        case givesWhileServing
        /// A take does not raise the format of rows.
        case formatNotRaised
    }

    enum Happening {
        case performs(DirectoryCall, deadline: Int64)
        case answers(DirectoryCall, DirectoryAnswer)
        case opens(LogOwner, StoreError?)
        case adopted(LogOwner, StoreError?)
        case drops
        case releases
        case leaves
        case sendsAppend
        case appends(LogRow, session: Int64, isAnswered: Bool)
        case appendAnswered(LogRow, session: Int64, AppendOutcome?)
        case fault
    }

    struct Event {
        var time: Int64
        var node: Int
        var life: Int
        var happening: Happening
    }

    /// A promise that does not hold.
    struct Broken: Error, CustomStringConvertible {
        var description: String
    }

    static let epoch: Int64 = 1_700_000_000_000_000_000
    static let second: Int64 = 1_000_000_000

    let seed: UInt64
    let bug: Bug
    var random: SeededGenerator
    let store = MemoryLogStore()
    let directory: MemoryDirectory
    /// The formats of rows that processes read and write: two, while the cluster is upgraded.
    let formats: ClosedRange<Int>
    /// The newest format in which an owner of the log may have written.
    var written = 1
    /// The node that has opened the log without being able to read it, if there was one.
    var unable: Int?
    let clock = Guarded<Int64>(0)
    var time: Int64 = 0
    var events: [Event] = []
    var nodes: [SimulatedNode] = []
    /// The rows that some node knows to be durable.
    var acknowledged: [LogRow] = []
    var outageUntil: Int64 = 0
    var slowUntil: Int64 = 0
    var isChaotic = true
    /// The owner after the newest call of the directory.
    var owner = LogOwner(epoch: 0, session: 0)
    var takes = 0
    var handOvers = 0
    var ends = 0
    var trace: [String] = []
    /// Whether events are added to `trace`, which takes long.
    var isTraced = false
    private var turnsAtOnce = 0

    init(seed: UInt64, bug: Bug = .none, nodes count: Int? = nil) {
        self.seed = seed
        self.bug = bug
        random = SeededGenerator(seed: seed)
        let isUpgraded = random.chance(oneIn: 2)
        formats = count == nil && isUpgraded ? 1...2 : 2...2
        directory = MemoryDirectory(store, format: 1) { [clock] in Self.epoch + clock.withLock { $0 } }
        let unable = count == nil && random.chance(oneIn: 3) ? 1 : nil
        for number in 0..<(count ?? Int(random.number(2...5))) {
            nodes.append(
                SimulatedNode(
                    number, rate: random.number(900...1100),
                    wallOffset: random.number(-100_000_000...100_000_000), isWarm: !random.chance(oneIn: 4),
                    reads: Int.random(in: formats, using: &random), isUnable: number == unable))
        }
    }

    /// Injects faults for `seconds`, then checks that everything works again.
    func run(seconds: Int64) throws(Broken) {
        schedule(.fault, node: 0, after: random.number(0...Self.second))
        try advance(to: seconds * Self.second)
        calm()
        // The beat of a node that is dead may be under way for seconds, and is a sign of life when it comes.
        let underWay = events.compactMap { event in if case .performs = event.happening { event.time } else { nil } }
        try advance(to: max(time, underWay.max() ?? time))
        // A node that can't use the log may take it first.
        let seconds: Int64 = nodes.contains(where: \.isUnable) ? 7 : 5
        try advance(to: time + seconds * Self.second)
        let live = Set(nodes.filter(\.isRunning).map(\.membership.session))
        if !live.contains(store.owner.session) {
            throw broken("the log has no live owner \(seconds) s after the last fault")
        }
        try advance(to: time + 5 * Self.second)
        try checkServed()
        let before = store.owner
        try advance(to: time + 5 * Self.second)
        if store.owner != before { throw broken("the owner changes although nothing goes wrong") }
        try checkLog()
    }

    /// Takes every event up to `end`.
    func advance(to end: Int64) throws(Broken) {
        while true {
            let event = events.indices.min { events[$0].time < events[$1].time }
            let awake = nodes.filter(\.isAwake).map { ($0, max(time, $0.time(at: $0.membership.nextWake))) }
            let resumed = nodes.compactMap { node in node.pausedUntil.map { (node, $0) } }
            let restarted = nodes.compactMap { node in node.restartAt.map { (node, $0) } }
            let first = min(
                event.map { events[$0].time } ?? .max,
                (awake + resumed + restarted).map(\.1).min() ?? .max)
            guard first <= end else { break }
            turnsAtOnce = first == time ? turnsAtOnce + 1 : 0
            if turnsAtOnce > 5000 { throw broken("time stands still") }
            time = max(time, first)
            clock.withLock { $0 = time }
            if let event, events[event].time <= first {
                let happened = events.remove(at: event)
                try happen(happened)
            } else if let (node, _) = restarted.first(where: { $0.1 <= first }) {
                node.restart(at: time)
            } else if let (node, _) = resumed.first(where: { $0.1 <= first }) {
                node.pausedUntil = nil
                try check()
                let waiting = node.waiting
                node.waiting = []
                for one in waiting { schedule(one, node: node.number, after: 0) }
            } else if let (node, _) = awake.first(where: { $0.1 <= first }) {
                perform(node.membership.wake(at: node.now(at: time)), node)
            }
            try check()
        }
        time = end
        clock.withLock { $0 = time }
    }

    func broken(_ what: String) -> Broken {
        let last = trace.suffix(40).joined(separator: "\n")
        return Broken(description: "seed \(seed), at \(Double(time) / 1e9) s: \(what)\n\(last)")
    }

    func note(_ what: @autoclosure () -> String) {
        guard isTraced else { return }
        trace.append("\(Double(time / 1000) / 1e6) \(what())")
        if trace.count > 400 { trace.removeFirst(200) }
    }

    func schedule(_ happening: Happening, node: Int, after delay: Int64) {
        events.append(Event(time: time + delay, node: node, life: nodes[node].life, happening: happening))
    }

    // MARK: What must hold

    /// Reads the owner of the log.
    func look() throws(Broken) {
        if store.owner.epoch < owner.epoch { throw broken("the epoch fell") }
        owner = store.owner
    }

    private func check() throws(Broken) {
        if let unable { throw broken("node \(unable) has a log of a newer format than it reads") }
        for node in nodes where node.isAwake && isLeaseValid(node) {
            guard let served = node.served, served.session != owner.session else { continue }
            throw broken("node \(node.number) shows the log, which session \(owner.session) owns")
        }
    }

    func isLeaseValid(_ node: SimulatedNode) -> Bool {
        let now = node.now(at: time)
        return node.leaseEnd > (bug == .wallClockLease ? now.realtime : now.boottime)
    }

    private func checkServed() throws(Broken) {
        let count = serving.count
        if count == 0 { throw broken("the log is not served in the end") }
        if count > 1 { throw broken("several nodes serve") }
    }

    /// The nodes that serve the log under a valid lease.
    var serving: [SimulatedNode] { nodes.filter { $0.isRunning && isLeaseValid($0) && $0.served != nil } }

    /// Checks that epochs never fall along the log, that each begins with its barrier, and that no acknowledged row
    /// is missing.
    private func checkLog() throws(Broken) {
        let view = store.seen(by: store.owner.session)
        var all: [LogRow] = []
        do {
            _ = try view.open()
            all = try rows(of: view)
        } catch { throw broken("\(error)") }
        var epoch: Int64 = 0
        var chain = ChainVerifier()
        for row in all {
            do { try chain.check(row) } catch { throw broken("\(error)") }
            if row.epoch < epoch { throw broken("epoch \(row.epoch) after \(epoch)") }
            if row.epoch > epoch && BatchHeader.kind(of: row) != .barrier {
                throw broken("epoch \(row.epoch) begins without a barrier")
            }
            epoch = row.epoch
        }
        let found = Set(all.map(\.first))
        for row in acknowledged where !found.contains(row.first) {
            throw broken("the acknowledged row at \(row.first) is lost")
        }
    }
}
