import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// An engine and its committer on a live thread, with manual clocks and no fire loop: a test passes the time and fires
/// timers itself.
final class Rig: @unchecked Sendable {  // unchecked: `thread` is touched by the test's thread alone
    let store: any LogStore
    let time: ManualTime
    let alarm: ManualAlarm
    let shared: SharedParts
    let log: ActiveLog
    let published: Published<ActiveLog?>
    let committer: Committer
    let bell = CommitBell()
    var engine: Engine { log.engine }
    var hub: EventHub { log.hub }
    /// The events reported to the operator.
    let heard = Guarded<[ServiceEvent]>([])
    private let siphash: SipHash
    private var thread: Thread?

    /// Opens `store`, folds it and starts the committer.
    init(
        _ store: any LogStore = MemoryLogStore(), _ configuration: EngineConfiguration = EngineConfiguration(),
        time: ManualTime = ManualTime(), backlog: Int = 200, from standby: consuming StandbyFold? = nil,
        starts: Bool = true
    ) throws {
        self.store = store
        self.time = time
        var configuration = configuration
        // Quick timers owe thousands of deliveries, which tests would fold again and again.
        configuration.deliveries.backlog = min(configuration.deliveries.backlog, backlog)
        alarm = ManualAlarm(time)
        shared = SharedParts(alarm: alarm, timeSource: time, bell: bell)
        log = ActiveLog(
            try RecoveredLog.recover(store, configuration, from: &standby), configuration: configuration,
            shared: shared, report: { [heard] event in heard.withLock { $0.append(event) } })
        siphash = SipHash(secret: log.secret)
        published = Published(log)
        committer = Committer(published, bell, configuration)
        if starts { start() }
    }

    deinit { stop() }

    func start() { thread = Thread(name: "commit") { [committer] in committer.run() } }

    /// Commits what is left, and closes the store.
    func stop() {
        guard let thread else { return }
        committer.stop()
        thread.join()
        self.thread = nil
        store.close()
    }

    /// Calls `body` with the engine, under its lock.
    func locked<Result>(_ body: (Engine) -> Result) -> Result { engine.lock.withLock { body(engine) } }

    /// The key of the timer `id`.
    func key(_ id: String) -> TimerKey { TimerKey(id: Array(id.utf8).span, siphash: siphash) }

    /// Makes changes in one turn. Returns the position of the newest.
    @discardableResult
    func change(_ body: (borrowing Turn) throws(ServiceError) -> Void) throws(ServiceError) -> Int64 {
        try log.change(body)
    }

    /// Makes a timer. Returns the position of the newest record.
    @discardableResult
    func create(
        _ id: String, _ rules: TimerRules = TimerRules(.after(1000)), payload: [UInt8] = []
    ) throws(ServiceError) -> Int64 {
        try change { turn throws(ServiceError) in
            var bytes = definition(id, rules, payload: payload)
            _ = try turn.create(key(id), definition: &bytes)
        }
    }

    /// Applies a command to a timer. Returns the position of the newest record.
    @discardableResult
    func apply(_ id: String, _ command: TimerCommand) throws(ServiceError) -> Int64 {
        try change { turn throws(ServiceError) in _ = try turn.apply(command, key(id), if: .none) }
    }

    /// Records an answer. Returns its position.
    @discardableResult
    func answer(_ number: UInt64, bytes: Int = 10) throws(ServiceError) -> Int64 {
        try change { turn throws(ServiceError) in
            turn.answer(.numbered(number), [UInt8](repeating: 7, count: bytes))
        }
    }

    /// Begins attempts at deliveries.
    func begin(_ ids: [Int64]) -> [DeliveryAttempt] { engine.begin(ids) ?? [] }

    /// Fires what is due.
    func fire() { while case .more = engine.fire() {} }

    /// Waits until everything recorded is durable.
    func settle() throws {
        try eventually("everything is durable") {
            locked { $0.batch.isEmpty && !$0.storageFails && $0.durableHead == $0.batch.head }
        }
    }

    /// Waits until the fate of the record at `position` is known, and returns it.
    func fate(_ position: Int64) throws -> Fate {
        try eventually("the fate of \(position) is known") { engine.fate(of: position) != .pending }
        return engine.fate(of: position)
    }

    /// The timers in memory.
    var live: SchedulerCopy {
        engine.turn { turn in turn.read { (scheduler: borrowing Scheduler) in SchedulerCopy(scheduler) } }
    }

    /// The progress of the timer `id`; nil when there is none.
    func progress(_ id: String) -> TimerProgress? {
        engine.turn { turn in
            turn.find(key(id)).map { slot in turn.read { (scheduler: borrowing Scheduler) in scheduler.progress(slot) }
            }
        }
    }

    /// The log folded from scratch: its timers, and the answers that are still wanted.
    func folded() throws -> (timers: SchedulerCopy, answers: IdempotencyTable) {
        var fold = LogFold(secret: log.secret)
        try store.fold(into: &fold)
        var table = IdempotencyTable(
            maximum: engine.configuration.maximumIdempotencyKeys,
            maximumBytes: engine.configuration.maximumIdempotencyBytes)
        for place in fold.answers.sorted(by: LogFold.AnswerPlace.isOlder) { table.note(place) }
        return (SchedulerCopy(fold.finish()), table)
    }

    /// Expects that a fold of the log gives what memory holds: timers, and answers of the numbers `answers`.
    func expectFoldIsLive(
        answers numbers: Range<UInt64> = 0..<0, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try settle()
        let live = live
        let folded = try folded()
        #expect(folded.timers.differences(from: live) == [], comment, sourceLocation: sourceLocation)
        if numbers.isEmpty { return }
        var (before, after) = (locked { $0.idempotency }, folded.answers)
        let wall = locked { $0.instant().wall }
        for number in numbers {
            let (left, right) = (before.begin(.numbered(number), at: wall), after.begin(.numbered(number), at: wall))
            #expect(left == right, comment, sourceLocation: sourceLocation)
        }
        #expect(before.count == after.count, comment, sourceLocation: sourceLocation)
        #expect(before.answerBytes == after.answerBytes, comment, sourceLocation: sourceLocation)
    }

    /// The definition that the event of a delivery holds, once that is durable.
    func definitionOfEvent(_ delivery: DeliveryDetail) -> [UInt8]? {
        guard let reader = try? store.makeReader() else { return nil }
        var bodies = EventReader { position throws(StoreError) in try reader.row(holding: position) }
        guard let found = try? bodies.event(delivery.id, at: delivery.body) else { return nil }
        return Array(found.data[found.event.definition])
    }

    /// Every record in the log, in order.
    func records(from position: Int64 = 0) throws -> [LogRecord] {
        var records: [LogRecord] = []
        for row in try rows(of: store, from: position) {
            try BatchRows.read(row) { record in
                records.append(record)
                return true
            }
        }
        return records
    }

    /// Whether the log holds the record at `position`.
    func holds(_ position: Int64) throws -> Bool { try store.makeReader().row(holding: position) != nil }
}

extension EventHub {
    /// Adds durable rows.
    func publish(_ added: [LogRow]) { publish(added, durableThrough: added.last?.last ?? 0) }

    /// Every row after `position`, and the position through which they are complete; nil where some are no longer
    /// in memory.
    func rows(after position: Int64) -> (rows: [LogRow], through: Int64)? {
        var rows: [LogRow] = []
        while true {
            switch row(after: rows.last?.last ?? position) {
            case .row(let row): rows.append(row)
            case .none(let newest): return (rows, newest)
            case .gone: return nil
            }
        }
    }
}
