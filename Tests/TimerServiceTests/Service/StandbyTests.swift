import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// A log that one process owns, and a service that stands by.
private final class OwnedLog: Sendable {
    let log = MemoryLogStore()
    /// The log as the standby sees it.
    let gate: GatedLogStore
    let owner: Rig
    let service: TimerService
    let reports = Guarded<[ServiceEvent]>([])

    init(_ standby: StandbyKind, _ configuration: EngineConfiguration = EngineConfiguration()) throws {
        _ = log.beginEpoch(session: 1, after: 0)
        owner = try Rig(log.seen(by: 1))
        gate = GatedLogStore(log.seen(by: 2))
        service = try TimerService(
            store: gate, place: ManualPlace(), standby: standby, configuration: configuration,
            alarm: ManualAlarm(owner.time), timeSource: owner.time,
            report: { [reports] event in reports.withLock { $0.append(event) } })
        service.standby?.longestFreeing = .max / 2
        service.start()
    }

    /// Makes timers at the owner, and shows the standby where the log ends then.
    func create(_ ids: String...) throws {
        for id in ids { try owner.create(id) }
        try owner.settle()
        service.read(through: log.end, shown: owner.log.engine.durableHead)
    }

    /// Waits until the standby has read the log.
    func waitUntilRead() throws {
        try eventually("the log is read") { service.memory == .through(log.end) }
    }

    /// Makes the standby the owner.
    func takeOver() throws -> ActiveLog {
        begin(session: 2)
        return try #require(try service.adopt())
    }

    /// Gives the log to a session, which goes on above all that was given before.
    func begin(session: Int64) { _ = log.beginEpoch(session: session, after: owner.log.engine.claimedThrough + 10) }

    /// The reports of lost rows that are accepted, or not: whether the service owned the log.
    func lossReports(areAccepted: Bool = false) -> [Bool] {
        reports.value.compactMap { event in
            if case .rowsLost(_, let isOwner, areAccepted) = event { isOwner } else { nil }
        }
    }

    func stop() {
        owner.stop()
        service.stop()
    }
}

struct StandbyTests {
    @Test func `a warm standby reads the log as it grows, and the rest of it when it takes over`() throws {
        let owned = try OwnedLog(.warm)
        #expect(owned.service.standbyProgress == StandbyProgress() && owned.service.memory == .warming)
        try owned.create("a", "b")
        try owned.waitUntilRead()
        #expect(owned.service.memory == .through(owned.log.end))
        #expect(owned.service.standbyProgress?.isWarm == true)
        #expect(owned.service.snapshotCounters().fires.reduce(0, +) == 0)
        try owned.create("c")
        try owned.waitUntilRead()
        try owned.owner.create("d")
        try owned.owner.settle()
        let log = try owned.takeOver()
        for id in ["a", "b", "c", "d"] { #expect(log.has(id)) }
        #expect(log.trim.uncountedThrough != nil, "the fold was begun before")
        #expect(owned.service.standbyProgress == nil)
        owned.stop()
    }

    @Test func `a standby that reads many rows shows how far it is`() throws {
        let owned = try OwnedLog(.warm)
        for id in ["a", "b"] {
            try owned.owner.create(id)
            try owned.owner.settle()
        }
        owned.gate.passRows(2)
        try owned.create("c")
        // The round can't end: a row is held on its way to the fold.
        try eventually("a row is read") { owned.service.standbyProgress.map { $0.head > 0 } ?? false }
        #expect(owned.service.memory == .warming)
        owned.gate.passRows(nil)
        try owned.waitUntilRead()
        owned.stop()
    }

    @Test func `a read that hangs holds no take-over up`() throws {
        let owned = try OwnedLog(.warm)
        try owned.create("a")
        try owned.waitUntilRead()
        owned.gate.shutReads()
        try owned.create("b")
        try eventually("the standby's read hangs") { owned.gate.isHoldingRead }
        try Background { _ = try? owned.takeOver() }.finish("the take-over")
        let log = try #require(owned.service.log.value)
        #expect(log.has("a") && log.has("b"))
        owned.stop()
    }

    @Test func `a server that has lost the log reads it from the start`() throws {
        let owned = try OwnedLog(.warm)
        try owned.create("a")
        try owned.waitUntilRead()
        _ = try owned.takeOver()
        owned.service.drop()
        _ = owned.log.beginEpoch(session: 1, after: 0)
        owned.service.read(through: owned.log.end)
        try owned.waitUntilRead()
        #expect(owned.service.standbyProgress?.isWarm == true)
        #expect(owned.service.standbyProgress?.breaks == [:])
        #expect(try owned.takeOver().has("a"))
        owned.stop()
    }

    @Test func `what a server had is freed, or was waited for long enough, before it reads the log again`() throws {
        let log = MemoryLogStore()
        _ = log.beginEpoch(session: 1, after: 0)
        let standby = Standby(
            log.seen(by: 2), secret: try #require(log.secret), EngineConfiguration(),
            losses: LossRegister(acceptsAll: false), report: { _ in })
        standby.read(through: 1)
        standby.longestFreeing = .max / 2
        standby.restart(hadEngine: true)
        #expect(standby.nextWork() == .forget)
        standby.engineWasFreed()
        #expect(standby.nextWork() == .read)
        standby.longestFreeing = 0
        standby.restart(hadEngine: true)
        #expect(standby.nextWork() == .read)
    }

    @Test func `a cold standby reads the log when it takes over`() throws {
        let owned = try OwnedLog(.cold)
        try owned.create("a")
        #expect(owned.service.standbyProgress == nil && owned.service.memory == .cold)
        let log = try owned.takeOver()
        #expect(log.has("a"))
        #expect(log.trim.uncountedThrough == nil)
        owned.stop()
    }
}

/// Rows that the storage loses after the owner has shown them.
struct LostRowsTests {
    /// Makes timers at an owner, of which a standby has read `gone`, and loses that.
    private func lose(_ configuration: EngineConfiguration = EngineConfiguration()) throws -> OwnedLog {
        let owned = try OwnedLog(.warm, configuration)
        try owned.create("tea")
        try owned.create("gone")
        try owned.waitUntilRead()
        owned.log.loseNewestRow()
        return owned
    }

    /// Gives the log to another server, which does not know of the loss, and waits until the standby tells of it.
    private func goOnElsewhere(_ owned: OwnedLog) throws {
        owned.begin(session: 3)
        owned.service.read(through: owned.log.end)
        try eventually("the loss is found") { owned.service.losses == 1 }
    }

    @Test(arguments: [false, true])
    func `a server that takes a log over which has lost rows holds it until an operator accepts that`(
        isKnown: Bool
    ) throws {
        let owned = try lose()
        // Position of the row that was lost.
        let given = owned.owner.log.engine.durableHead
        if isKnown { try goOnElsewhere(owned) }
        var told = isKnown ? [false] : []
        for _ in 0..<2 {
            // Another take changes nothing.
            let log = try owned.takeOver()
            #expect(log.has("tea") && !log.has("gone"))
            told.append(true)
            try eventually("the loss is told") { owned.lossReports() == told }
            #expect(!owned.service.isWritable)
            #expect(throws: ServiceError.storageUnavailable) { try log.create("refused") }
            // That is an acceptance from before the loss.
            owned.service.acceptLoss(at: given)
            #expect(owned.service.heldLoss != nil)
            owned.service.drop()
        }
        let log = try owned.takeOver()
        owned.service.acceptLoss(at: owned.log.end)
        try eventually("changes are taken") { owned.service.isWritable }
        #expect(try log.create("gone") > given)
        #expect(owned.service.losses == 1)
        owned.stop()
    }

    @Test func `a loss that is accepted before the take-over holds nothing, also where the log is read again`() throws {
        let owned = try lose()
        try goOnElsewhere(owned)
        owned.service.acceptLoss(at: owned.log.end)
        for _ in 0..<2 {
            _ = try owned.takeOver()
            #expect(owned.service.isWritable)
            owned.service.drop()
            try goOnElsewhere(owned)
            try owned.waitUntilRead()
        }
        #expect(owned.service.losses == 1)
        owned.stop()
    }

    @Test func `a server that accepts losses goes on by itself`() throws {
        var configuration = EngineConfiguration()
        configuration.acceptsLosses = true
        let owned = try lose(configuration)
        let log = try owned.takeOver()
        try eventually("changes are taken") { owned.service.isWritable }
        #expect(owned.lossReports(areAccepted: true) == [true] && owned.service.losses == 1)
        #expect(owned.lossReports() == [])
        try log.create("gone")
        owned.stop()
    }

    @Test func `rows that nobody was shown hold nothing`() throws {
        let owned = try OwnedLog(.warm)
        try owned.create("tea")
        try owned.owner.create("gone")
        try owned.owner.settle()
        owned.service.read(through: owned.log.end)
        try owned.waitUntilRead()
        owned.log.loseNewestRow()
        let log = try owned.takeOver()
        #expect(!log.has("gone"))
        #expect(owned.service.isWritable && owned.service.losses == 0)
        owned.stop()
    }
}
