import TestSupport
import TimerLog

@testable import TimerCore
@testable import TimerService

/// One random history of clients, clocks, disks and crashes, decided by its seed alone, against the engine, its
/// committer, compactor and log. After every step the server is compared with the model.
final class Simulation {
    /// A change or a read whose answer waits until it is durable.
    struct Answer {
        var position: Int64
        var id: String
        /// The state that the answer shows; nil when it says that there is no timer.
        var shown: HeldTimer?
    }

    struct Shown: Hashable {
        var id: String
        var version: Int64
    }

    var random: SeededGenerator
    let time: SimulatedTime
    let store = SimulatedStore()
    /// The ids that clients use.
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h"]
    var server: Server
    var model = Model()
    /// The model as of the newest durable record.
    var durable = Model()
    /// Models that the folds to come will find.
    var foldsToCome: [Model] = []
    var seenRestarts = 0
    /// Bytes of the engine's batch, and of its kicks, that the model has seen, and records of the batch.
    var seen = (batch: 0, kicks: 0, records: Int64(0))
    var audit = LogAudit()
    var follower = Follower()
    var list: ListReader?
    /// The requests that receivers have, by delivery, and their answers that the dispatcher has not recorded yet.
    var exchanges: [Int64: Exchange] = [:]
    var ends: [(id: Int64, exchange: Exchange, answer: ReceiverAnswer)] = []
    /// Dead letters that the server has dropped; a fold may still find them, or not.
    var droppedLetters: Set<Int64> = []
    /// Keyed requests that are under way in this process.
    var openKeys: Set<UInt64> = []
    /// The milestones this history reached.
    var reached: Set<Milestone> = []
    var answers: [Answer] = []
    /// The states that answers showed, by version.
    var shown: [Shown: HeldTimer] = [:]
    /// Nanoseconds in which the server was up and took changes.
    var uptime: Int64 = 0
    /// The suspending clock less `uptime` when the history began, in nanoseconds.
    var suspendingStart: Int64?
    /// The elapsed clock at the fire loop's last step, in nanoseconds.
    var lastAdvance: Int64
    /// Timers that clients changed since the fire loop's last step.
    var changed: Set<String> = []
    /// The instant of each clock through which due instants passed in a stall of the fire loop, or in a step of
    /// the calendar.
    var missedUntil = ClockReadings()
    /// Whether the log was folded since the fire loop's last step: timers overdue then show as a stall.
    var hasFolded = false
    /// Whether the model has yet to take over the dead letters that the fold found.
    var hasToAdopt = false
    /// Whether the fire loop makes its next step without waiting for the alarm.
    var isLoopDue = true
    /// The promise broken inside a call of the server.
    var broken: (any Error)?
    /// The depth of a step within calls of the server.
    var depth = 0
    /// Whether this process ends before the next step.
    var isDoomed = false
    /// Client requests, clock steps, appends' fates, crashes, waits.
    private(set) var operations = 0
    /// The operations in words, where the steps are to be shown.
    private(set) var trace: [String] = []
    private let traces: Bool

    init(seed: UInt64, traces: Bool = false) throws {
        random = SeededGenerator(seed: seed)
        self.traces = traces
        // Two fifths of the histories begin within a day before the seconds since 1970 reach 2³¹, and a fifth in 1970.
        let starts: [Int64] = [1_700_000_000, 1_700_000_000, 2_147_483_600, 2_147_400_000, 86_400]
        time = SimulatedTime(
            calendar: (starts.randomElement(using: &random) ?? 0) * 1_000_000_000
                + Int64.random(in: 0..<1_000_000_000, using: &random))
        server = try Server(store, time)
        lastAdvance = server.now().elapsed
        listen()
    }

    /// Notes an operation; its words are made only for a reader.
    func note(_ text: @autoclosure () -> String) {
        operations += 1
        if traces { trace.append("\(depth > 0 ? "  " : "")\(text())") }
    }

    /// Takes `count` steps.
    ///
    /// - Throws: the broken promise, with its step.
    func run(steps count: Int) throws {
        for index in 0..<count {
            do {
                try step()
                if let broken { throw broken }
                try check()
            } catch { throw BrokenPromise("step \(index): \(error)") }
        }
    }

    /// Takes one random step.
    private func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<42: try request()
        case 42..<60: try pass()
        case 60..<71: try commit()
        case 71..<83: try deliver()
        case 83..<86: try stepCalendar()
        case 86..<89: try pauseProcess()
        case 89..<91: try crash()
        case 91..<93: try compact()
        case 93..<95: try follow()
        case 95..<97: try readList()
        default: try checkFold()
        }
    }

    /// Takes a step that may come while the server is in the middle of a call.
    func interlude() {
        guard depth == 0, broken == nil, !isDoomed else { return }
        depth += 1
        defer { depth -= 1 }
        do {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4: try request()
                case 4, 5: try deliver()
                case 6: try stepCalendar()
                case 7: try follow()
                default: try passDuringCall()
                }
                if let broken { throw broken }
            }
            try resolve()
        } catch { broken = error }
    }
}
