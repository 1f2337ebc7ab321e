import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct ConcurrencyTests {
    /// The answer that a thread got to one change.
    private struct Told: Sendable {
        var position: Int64
        var id: String
        var state: TimerState
        var isDurable = false
    }

    private static let threads = 6
    private static let timers = 60

    /// Tries a change; nil when the machine refuses it.
    private static func attempt(
        _ service: TimerService, _ body: (borrowing Turn) throws(ServiceError) -> Void
    ) -> Int64? {
        service.engine.turn { turn in
            do throws(ServiceError) {
                try body(turn)
                return turn.head
            } catch {
                if case .refused = error { return nil }
                Issue.record("\(error)")
                return nil
            }
        }
    }

    private static func key(_ id: String, _ siphash: SipHash) -> TimerKey {
        TimerKey(id: Array(id.utf8).span, siphash: siphash)
    }

    /// Makes, suspends and cancels every timer, as one of several clients that all do. Returns the answers it got.
    private static func work(_ service: TimerService, _ siphash: SipHash, _ seed: Int) -> [Told] {
        var told: [Told] = []
        var generator = SeededGenerator(seed: UInt64(seed))
        let steps: [TimerCommand?] = [nil, .suspend, .cancel]
        for step in steps {
            for number in (0..<timers).shuffled(using: &generator) {
                let id = "t\(number)"
                var bytes = definition(id, TimerRules(.after(1 << 40)))
                let position = attempt(service) { turn throws(ServiceError) in
                    if let command = step {
                        _ = try turn.apply(command, key(id, siphash), if: .none)
                    } else {
                        _ = try turn.create(key(id, siphash), definition: &bytes)
                    }
                }
                guard let position else { continue }
                let state: TimerState = step == nil ? .running : step == .suspend ? .suspended : .cancelled
                told.append(Told(position: position, id: id, state: state))
            }
        }
        return told
    }

    @Test func `of many clients one wins each step, and what was durable is there after a restart`() throws {
        let directory = try TemporaryDirectory()
        let store = SQLiteLogStore(directory: directory.path)
        let service = try TimerService(store: store, configuration: EngineConfiguration()) { event in
            if case .recovered = event { return }
            Issue.record("\(event)")
        }
        service.start()
        let siphash = service.engine.siphash
        let told = Guarded<[Told]>([])
        let clients = (0..<Self.threads).map { seed in
            Background {
                var mine = Self.work(service, siphash, seed)
                for index in mine.indices {
                    do {
                        try eventually("it is durable") { service.engine.fate(of: mine[index].position) == .durable }
                        mine[index].isDurable = true
                    } catch {
                        Issue.record(error)
                    }
                }
                told.withLock { $0 += mine }
            }
        }
        for client in clients { try client.finish("a client is done") }
        // Records reported durable are on disk now, not only after a stop.
        let reader = try store.makeReader()
        for change in told.value { #expect(try reader.row(holding: change.position) != nil) }
        service.stop()

        var wins: [String: Int] = [:]
        for change in told.value { wins["\(change.id) \(change.state)", default: 0] += 1 }
        for number in 0..<Self.timers {
            #expect(wins["t\(number) running"] == 1)
            #expect(wins["t\(number) cancelled"] == 1)
            #expect(wins["t\(number) suspended"] ?? 0 <= 1)
        }
        #expect(told.value.allSatisfy { $0.isDurable })

        let again = try Rig(SQLiteLogStore(directory: directory.path))
        #expect(again.live.timers.count == Self.timers)
        #expect(again.live.timers.values.allSatisfy { $0.progress.state == .cancelled })
        var found: [Int64: String] = [:]
        for row in try rows(of: again.store) {
            try BatchRows.read(row) { record in
                var id: [UInt8] = []
                Definition.appendID(row.data.span.extracting(record.definition), to: &id)
                found[record.position] = "\(String(decoding: id, as: UTF8.self)) \(record.progress.state)"
                return true
            }
        }
        for change in told.value { #expect(found[change.position] == "\(change.id) \(change.state)") }
        again.stop()
    }
}
