import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Random lives of one log, each ended by a crash or cleanly, with any durability and with clocks that are set: a
/// version or an id that was shown is never shown again for something else.
struct IntervalHistoryTests {
    private static let ids = ["a", "b", "c", "d"]
    private static let livesOfALog = 8
    private static let stepsOfALife = 40

    /// Positions and versions that clients were shown so far.
    private struct Shown {
        var newest: Int64 = 0
        var timers: [String: [Int64: TimerProgress]] = [:]

        mutating func note(_ id: String, _ progress: TimerProgress) {
            let before = timers[id]?[progress.version]
            #expect(before == nil || before == progress, "version \(progress.version) of \(id) comes twice")
            timers[id, default: [:]][progress.version] = progress
        }
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `no id and no version is shown twice`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let time = ManualTime()
        var disk = MemoryLogStore()
        var shown = Shown()
        for _ in 0..<Self.livesOfALog {
            var configuration = EngineConfiguration()
            if !generator.chance(oneIn: 4) {
                configuration.durability = .interval(generator.chance(oneIn: 4) ? 0 : 3_600_000_000_000)
            }
            let rig = try Rig(disk, configuration, time: time)
            try live(rig, time, &shown, &generator)
            let isClean = generator.chance(oneIn: 3)
            if isClean { rig.stop() }
            disk = try copy(rig.store)
            rig.stop()
            if generator.chance(oneIn: 3) {
                time.step(milliseconds: Int64.random(in: -100_000...100_000, using: &generator))
            }
        }
    }

    private func live(
        _ rig: Rig, _ time: ManualTime, _ shown: inout Shown, _ generator: inout SeededGenerator
    ) throws {
        for id in Self.ids { if let progress = rig.progress(id) { shown.note(id, progress) } }
        for _ in 0..<Self.stepsOfALife {
            if generator.chance(oneIn: 3) { time.pass(milliseconds: Int64.random(in: 0...9000, using: &generator)) }
            if generator.chance(oneIn: 9) {
                time.step(milliseconds: Int64.random(in: -60_000...60_000, using: &generator))
            }
            if generator.chance(oneIn: 9) { rig.log.hurry() }
            let id = Self.ids.randomElement(using: &generator) ?? "a"
            guard let position = try? change(rig, id, &generator) else { continue }
            let progress = rig.progress(id)
            #expect(try rig.fate(position) == .durable)
            #expect(position > shown.newest)
            shown.newest = max(shown.newest, position)
            if let progress { shown.note(id, progress) }
        }
    }

    private func change(
        _ rig: Rig, _ id: String, _ generator: inout SeededGenerator
    ) throws(ServiceError) -> Int64 {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0..<3: return try rig.create(id, TimerRules(.every(1 << 40, first: .period)))
        case 3: return try rig.change { turn throws(ServiceError) in try turn.delete(rig.key(id), if: .none) }
        case 4: return try rig.apply(id, .fire)
        case 5: return try rig.apply(id, .resume)
        default: return try rig.apply(id, .suspend)
        }
    }

    /// The rows that another process finds.
    private func copy(_ store: any LogStore) throws -> MemoryLogStore {
        _ = try store.open()
        let copy = MemoryLogStore()
        _ = try copy.open()
        #expect(copy.append(try rows(of: store), expecting: 0, epoch: 0) == .durable)
        return copy
    }
}
