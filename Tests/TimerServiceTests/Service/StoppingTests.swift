import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct StoppingTests {
    private func service(_ store: any LogStore, _ heard: Guarded<Int>) throws -> TimerService {
        let time = ManualTime()
        return try TimerService(
            store: store, configuration: EngineConfiguration(), alarm: ManualAlarm(time), timeSource: time
        ) { event in
            if case .appendFailed = event { heard.withLock { $0 += 1 } }
        }
    }

    private func create(_ id: String, _ service: TimerService) throws {
        let siphash = service.engine.siphash
        try service.engine.turn { (turn: borrowing Turn) -> Result<Void, ServiceError> in
            var bytes = definition(id, TimerRules(.after(1000)))
            let key = TimerKey(id: Array(id.utf8).span, siphash: siphash)
            do throws(ServiceError) { _ = try turn.create(key, definition: &bytes) } catch { return .failure(error) }
            return .success(())
        }.get()
    }

    @Test func `what was taken is on disk after a stop`() throws {
        let store = MemoryLogStore()
        let service = try service(store, Guarded(0))
        service.start()
        for number in 0..<200 { try create("t\(number)", service) }
        service.stop()
        let rig = try Rig(store)
        #expect(rig.live.timers.count == 200)
        rig.stop()
    }

    @Test func `a stop leaves rows that are to be deleted to the next process`() throws {
        let rig = try Rig(starts: false)
        for id in ["a", "b"] {
            try rig.create(id)
            #expect(rig.committer.step())
        }
        let all = try rows(of: rig.store)
        rig.log.delete(through: all[0].last, RowBytes([all[0]]))
        rig.committer.stop()
        let committing = Background { while rig.committer.step() {} }
        try committing.finish("the committer ends")
        #expect(try rows(of: rig.store) == all)
    }

    @Test func `changes are refused before a stop, whatever storage does meanwhile`() throws {
        let store = FaultyLogStore()
        let gate = GatedLogStore(store)
        let failures = Guarded(0)
        let service = try service(gate, failures)
        service.start()
        store.plan(.absent)
        gate.shut()
        try create("a", service)
        try eventually("the append is under way") { gate.isHolding }
        service.gate.stop()
        #expect(throws: ServiceError.shuttingDown) { try create("b", service) }
        gate.unshut()
        try eventually("storage was brought back") {
            failures.value == 1 && service.engine.durableHead > 0
        }
        #expect(throws: ServiceError.shuttingDown) { try create("b", service) }
        #expect(!service.isWritable)
        service.stop()
    }

    @Test(arguments: [
        FaultyLogStore.Outcome.absent, .unknownButWritten, .unknownAndLost, .diverged,
    ])
    func `a stop ends while storage fails, and writes nothing more`(_ outcome: FaultyLogStore.Outcome) throws {
        let store = FaultyLogStore()
        let gate = GatedLogStore(store)
        let failures = Guarded(0)
        let service = try service(gate, failures)
        service.start()
        gate.shut()
        try create("a", service)
        try eventually("the append is under way") { gate.isHolding }
        try create("b", service)
        store.plan(outcome)
        store.failReads(1 << 30)
        store.failOpens(1 << 30)
        gate.unshut()
        try eventually("the append failed") { failures.value == 1 }
        let stop = Background { service.stop() }
        try stop.finish("the service stops")
        let appends = store.appendCount
        #expect(appends == 1)
        store.failReads(0)
        store.failOpens(0)
        _ = try store.open()
        // No record made after the failed rows follows them in the log.
        #expect(try rows(of: store).count == (outcome == .unknownButWritten ? 1 : 0))
        store.close()
    }

    @Test func `a stop ends while probes are refused`() throws {
        let store = FaultyLogStore()
        let failures = Guarded(0)
        let service = try service(store, failures)
        for _ in 0..<1000 { store.plan(.absent) }
        service.start()
        try create("a", service)
        try eventually("probes are refused") { store.appendCount > 2 }
        let stop = Background { service.stop() }
        try stop.finish("the service stops")
        #expect(failures.value == 1)
    }

    @Test func `a stop ends while probes leave their fate unknown`() throws {
        let store = FaultyLogStore()
        let service = try service(store, Guarded(0))
        for _ in 0..<1000 { store.plan(.unknownAndLost) }
        service.start()
        try create("a", service)
        try eventually("probes fail") { store.appendCount > 2 }
        store.failOpens(1 << 30)
        let opens = store.openCount
        try eventually("opens fail") { store.openCount > opens + 1 }
        let stop = Background { service.stop() }
        try stop.finish("the service stops")
    }
}
