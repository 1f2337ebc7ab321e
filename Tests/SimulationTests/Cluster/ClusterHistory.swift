import TestSupport
import TimerCluster
import TimerLog

@testable import TimerCore
@testable import TimerService

/// One random history of several processes on one shared storage, decided by its seed alone: their memberships,
/// engines, committers, fire loops and feeds, clients that ask any of them, and streams that go on at another one.
/// After each step everything that was shown is compared with the log.
///
/// Everything that happens is an event with its true time. While an append is under way, further events happen.
final class ClusterHistory {
    static let millisecond: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000

    /// A mistake that the histories are to find.
    enum Bug: Sendable, CaseIterable {
        case none
        /// An append looks neither at the epoch nor at the end of the log.
        case appendWithoutFence
        /// Committed rows are shown, and requests are answered, after the lease is over.
        case showsPastLease
        /// The lease is timed by the calendar.
        case wallClockLease
        /// The rows of an append with an unknown outcome are appended again without settling it first.
        case appendsWithoutSettling
        /// A standby folds the log without some of its rows.
        case standbySkipsRows
        /// A standby that takes the log serves what it has read, without the rest.
        case servesBeforeTheRest
        /// A process that hands the log over answers on while it gives the log.
        case servesWhileGiving
    }

    /// The counts of the situations that the histories of a run reached.
    struct Tally {
        var operations = 0
        var answered = 0
        var refused = 0
        var unknown = 0
        var withheld = 0
        var fires = 0
        var events = 0
        var resumed = 0
        var takeovers = 0
        /// The adoptions by a standby that had read the log before.
        var warmed = 0
        /// The hand-overs that the giver knows to have succeeded.
        var handOvers = 0
        var fenced = 0
        var settled = 0
        var lateLandings = 0
    }

    private struct Event {
        var time: Int64
        var order: Int
        /// The process that does it; nil for an event outside of the processes.
        var process: ClusterProcess?
        var body: () throws -> Void
    }

    let seed: UInt64
    let bug: Bug
    var random: SeededGenerator
    /// Decides what standbys read, so that histories of a seed are the same with and without them.
    var standbyRandom: SeededGenerator
    let time = TrueTime()
    let store: MemoryLogStore
    let directory: MemoryDirectory
    let machines: [Machine]
    var processes: [ClusterProcess] = []
    /// The true times at which machines start their next processes, by machine.
    var restarts: [Int: Int64] = [:]
    var audit: SharedAudit
    var followers: [ClusterFollower] = []
    /// The ids that clients use.
    var ids: [String] = []
    /// The newest version of each timer that an answer showed: see `SharedAudit.index`.
    var answered: [String: Int] = [:]
    /// The true times until which the database can't be reached: by anybody, or by one machine.
    var outageUntil: Int64 = 0
    var cutOffUntil: [Int64]
    /// The true time of the last statement that is carried out without its sender's knowledge.
    var faultsThrough: Int64 = 0
    /// Whether a process has had a cause to fold the log again.
    var mayFold = false
    /// Whether faults are injected.
    var isChaotic = true
    /// The promise broken inside a call of a process.
    var broken: (any Error)?
    /// The number of events that are under way, each within the other.
    var depth = 0
    var tally = Tally()
    private var events: [Event] = []
    private var ordered = 0
    private(set) var operations = 0
    private(set) var trace: [String] = []
    private let traces: Bool
    private var eventsAtOnce = 0

    init(seed: UInt64, bug: Bug = .none, traces: Bool = false) {
        self.seed = seed
        self.bug = bug
        self.traces = traces
        random = SeededGenerator(seed: seed)
        standbyRandom = SeededGenerator(seed: seed &+ 0x5354_414E_4442_5921)
        let (store, time) = (MemoryLogStore(), time)
        self.store = store
        directory = MemoryDirectory(store) { Machine.epoch + time.now }
        audit = SharedAudit()
        var machines: [Machine] = []
        for number in 0..<Int(random.number(2...3)) {
            let rate = random.chance(oneIn: 2) ? 1000 : random.number(900...1100)
            machines.append(
                Machine(
                    number, time, rate: rate, wallOffset: random.number(-100...100) * Self.millisecond))
        }
        self.machines = machines
        cutOffUntil = [Int64](repeating: 0, count: machines.count)
        ids = (0..<Int(random.number(6...12))).map { "t\($0)" }
        for machine in machines { start(machine, life: 0) }
        for number in 0..<3 { followers.append(ClusterFollower(number)) }
    }

    /// Starts a process on a machine, in place of its last one.
    func start(_ machine: Machine, life: Int) {
        let process = ClusterProcess(machine, life: life, store, bug, isWarm: !standbyRandom.chance(oneIn: 4))
        listen(to: process)
        processes.removeAll { $0.machine === machine }
        processes.append(process)
        processes.sort { $0.machine.number < $1.machine.number }
        note("process \(machine.number).\(life) starts")
    }

    /// Injects faults for `seconds`, then checks that everything works again.
    ///
    /// - Throws: the broken promise, with its instant.
    func run(seconds: Int64) throws {
        // The pending events and their processes keep each other in memory.
        defer {
            events = []
            for process in processes { process.kill() }
        }
        do {
            for follower in followers {
                schedule(after: random.number(0...Self.second)) { [unowned self] in try follow(follower) }
            }
            schedule(after: random.number(0...Self.second)) { [unowned self] in try request() }
            schedule(after: random.number(0...3 * Self.second)) { [unowned self] in fault() }
            schedule(after: random.number(0...6 * Self.second)) { [unowned self] in handOver() }
            try run(until: seconds * Self.second)
            calm()
            try run(until: max(time.now, faultsThrough) + 8 * Self.second)
            try checkServed()
            let newest = audit.events.last?.position ?? 0
            try run(until: time.now + 2 * Self.second)
            try checkEnd()
            try checkStreams(through: newest)
        } catch { throw BrokenPromise("at \(Double(time.now / 1000) / 1e6) s: \(error)") }
    }

    /// Takes every event up to `end`, and every step that the processes have to take until then.
    func run(until end: Int64) throws {
        while true {
            if let broken { throw broken }
            guard let next = nextStep(), next.time <= end else { break }
            eventsAtOnce = next.time <= time.now ? eventsAtOnce + 1 : 0
            try promise(eventsAtOnce < 20_000, "time stands still")
            time.now = max(time.now, next.time)
            operations += 1
            try take(next.step)
        }
        time.now = max(time.now, end)
        if let broken { throw broken }
    }

    private enum Step {
        case event(Int)
        case restart(Int)
        case goOn(ClusterProcess)
        case wake(ClusterProcess)
        case fire(ClusterProcess)
        case commit(ClusterProcess)
    }

    private func nextStep() -> (time: Int64, step: Step)? {
        var best: (time: Int64, order: Int, step: Step)?
        func offer(_ time: Int64, _ order: Int, _ step: Step) {
            if best.map({ (time, order) < ($0.time, $0.order) }) ?? true { best = (time, order, step) }
        }
        for (index, event) in events.enumerated() { offer(event.time, event.order, .event(index)) }
        for (machine, time) in restarts { offer(time, -1000 + machine, .restart(machine)) }
        for process in processes where !process.isDead {
            let number = process.machine.number
            if let until = process.pausedUntil {
                offer(until, -900 + number, .goOn(process))
                continue
            }
            offer(max(time.now, process.machine.time(at: process.membership.nextWake)), -800 + number, .wake(process))
            offer(max(time.now, process.machine.time(at: process.firesAt)), -700 + number, .fire(process))
            if !process.isCommitting, process.hasWork { offer(time.now, -600 + number, .commit(process)) }
        }
        return best.map { ($0.time, $0.step) }
    }

    private func take(_ step: Step) throws {
        switch step {
        case .event(let index):
            let event = events.remove(at: index)
            if let process = event.process {
                if process.isDead { return }
                if process.pausedUntil != nil { return process.waiting.append(event.body) }
            }
            try event.body()
        case .restart(let number):
            restarts[number] = nil
            start(machines[number], life: (processes.first { $0.machine.number == number }?.life ?? 0) + 1)
        case .goOn(let process):
            note("\(process.machine.number) goes on")
            process.pausedUntil = nil
            let waiting = process.waiting
            process.waiting = []
            for body in waiting { schedule(after: random.number(0...Self.millisecond), on: process, body) }
        case .wake(let process): perform(process.membership.wake(at: process.machine.instant), process)
        case .fire(let process): process.fire()
        case .commit(let process): try commit(process)
        }
    }

    /// Schedules `body` in `delay` nanoseconds.
    ///
    /// - Parameter process: the one that does it. `body` is dropped if the process has ended by then, and waits while
    ///   the process is paused.
    func schedule(after delay: Int64, on process: ClusterProcess? = nil, _ body: @escaping () throws -> Void) {
        ordered += 1
        events.append(Event(time: time.now + max(0, delay), order: ordered, process: process, body: body))
    }

    /// Notes what happens; its words are made only for a reader.
    func note(_ text: @autoclosure () -> String) {
        if traces { trace.append("\(Double(time.now / 1000) / 1e6) \(text())") }
    }

    /// Makes other threads take some steps, before a call of a process reads the state they share.
    func interleave() {
        guard depth < 4, broken == nil, random.chance(oneIn: 8) else { return }
        within { try run(until: time.now + random.number(0...300_000)) }
    }

    /// Runs `body` within a call of a process, which can't throw.
    func within(_ body: () throws -> Void) {
        depth += 1
        defer { depth -= 1 }
        do { try body() } catch { broken = broken ?? error }
    }
}

extension ClusterHistory.Tally {
    /// Adds the counts of another history.
    mutating func add(_ history: ClusterHistory) {
        let other = history.tally
        operations += history.operations
        answered += other.answered
        refused += other.refused
        unknown += other.unknown
        withheld += other.withheld
        fires += history.audit.fires
        events += other.events
        resumed += other.resumed
        takeovers += other.takeovers
        warmed += other.warmed
        handOvers += other.handOvers
        fenced += other.fenced
        settled += other.settled
        lateLandings += other.lateLandings
    }
}
