import Foundation
import TestSupport
import Testing

@testable import TimerCore

// The testing macros take no spans.
extension Definition {
    static func layout(_ bytes: [UInt8]) -> Layout? { layout(bytes.span) }
    static func prefixCount(_ bytes: [UInt8]) -> Int? { prefixCount(bytes.span) }
}

/// The encoded definition, the one form that a timer has in memory and in the log.
struct DefinitionTests {
    @Test func `what was encoded is decoded`() {
        var random = SeededGenerator(seed: 41)
        for _ in 0..<2000 {
            let parts = DefinitionParts.random(&random)
            #expect(DefinitionParts(parts.encoded) == parts)
        }
    }

    @Test(arguments: [0, 1, 1_800_000_000_000, (1 << 48) - 1] as [Int64])
    func `the instant of creation is set in place`(instant: Int64) {
        var random = SeededGenerator(seed: 42)
        let parts = DefinitionParts.random(&random)
        var bytes = parts.encoded
        #expect(Definition.layout(bytes)?.createdAt == 0)
        Definition.setCreatedAt(instant, in: &bytes)
        #expect(Definition.layout(bytes)?.createdAt == instant)
        #expect(DefinitionParts(bytes) == parts)
    }

    @Test func `the traits are those of the rules`() {
        let late: [(inout TimerRules) -> Void] = [
            { $0.leeway = 1 }, { $0.jitter = 1 }, { $0.misfire = .all },
        ]
        for clock in TimerClock.withoutCalendar {
            func traits(_ schedule: Schedule, _ edit: (inout TimerRules) -> Void = { _ in }) -> Definition.Traits {
                let rules = rules(schedule) {
                    $0.clock = clock
                    edit(&$0)
                }
                return Definition.traits(Bench.definition("t", rules).span)
            }
            #expect(traits(.after(1)).clock == clock)
            #expect(traits(.after(1)).isDisjoint(with: .zoned))
            for schedule in [.after(1), .at(1), .every(1, first: .period)] as [Schedule] {
                #expect(traits(schedule).contains(.punctual))
                for edit in late { #expect(!traits(schedule, edit).contains(.punctual)) }
            }
            #expect(!traits(.watchdog(1)).contains(.punctual))
            let local = Schedule.every(Schedule.day, first: .local(1, zone: Array("Europe/Brussels".utf8)))
            #expect(traits(local).contains(.zoned) && traits(local).contains(.punctual))
        }
    }

    @Test func `the prefix names the timer and its labels`() throws {
        var random = SeededGenerator(seed: 43)
        for _ in 0..<300 {
            let parts = DefinitionParts.random(&random)
            let bytes = parts.encoded
            let count = try #require(Definition.prefixCount(bytes))
            #expect(count == Definition.layout(bytes)?.prefixCount)
            let prefix = Array(bytes.prefix(count))
            #expect(Definition.prefixCount(prefix) == count)
            #expect(Definition.layout(prefix) == nil)
            #expect(DefinitionParts.labels(prefix) == parts.labels)
            var id: [UInt8] = []
            Definition.appendID(prefix.span, to: &id)
            #expect(String(decoding: id, as: UTF8.self) == parts.id)
            let siphash = SipHash(secret: [1])
            let key = TimerKey(id: Array(parts.id.utf8).span, siphash: siphash)
            let isNamed = key.names(prefix.span) && key.names(bytes.span)
            #expect(isNamed)
            #expect(TimerKey(definition: prefix.span, siphash: siphash).hash == key.hash)
        }
    }

    @Test func `what is cut short is no definition, but within the payload`() throws {
        var random = SeededGenerator(seed: 44)
        for _ in 0..<150 {
            let bytes = DefinitionParts.random(&random).encoded
            let payload = try #require(Definition.layout(bytes)).payload
            for count in 0..<bytes.count where count <= 600 || count % 37 == 0 {
                let cut = Array(bytes.prefix(count))
                let isWhole = DefinitionParts(cut) != nil
                #expect(isWhole == (payload.map { count > $0.lowerBound } ?? false))
                Self.readAll(cut)
            }
        }
    }

    @Test func `bytes behind a definition without a payload make it none`() {
        var bytes = Bench.definition("t", rules(.after(1)))
        #expect(Definition.layout(bytes) != nil)
        bytes.append(0)
        #expect(Definition.layout(bytes) == nil)
    }

    @Test func `no changed byte is trouble`() {
        var random = SeededGenerator(seed: 45)
        for _ in 0..<40 {
            var bytes = DefinitionParts.random(&random).encoded
            for index in bytes.indices.prefix(400) {
                let kept = bytes[index]
                for flip in [1, 0x80, 0xFF, UInt8(random.number(1...255))] {
                    bytes[index] = kept ^ flip
                    Self.readAll(bytes)
                    if let layout = Definition.layout(bytes) {
                        #expect(layout.prefixCount <= bytes.count && (layout.payload?.upperBound ?? 0) <= bytes.count)
                        #expect(layout.rules.misses > 0 && layout.rules.leeway >= 0 && layout.rules.jitter >= 0)
                    }
                }
                bytes[index] = kept
            }
        }
    }

    @Test func `random bytes are no trouble`() {
        var random = SeededGenerator(seed: 46)
        for _ in 0..<20_000 {
            var bytes = (0..<random.number(0...60)).map { _ in UInt8(random.number(0...255)) }
            if !bytes.isEmpty && random.chance(oneIn: 2) { bytes[0] = 0 }
            if bytes.count > 1 && random.chance(oneIn: 2) { bytes[1] = UInt8(random.number(0...5)) }
            Self.readAll(bytes)
        }
    }

    private static func readAll(_ bytes: [UInt8]) {
        _ = Definition.layout(bytes)
        var id: [UInt8] = []
        Definition.appendID(bytes.span, to: &id)
        _ = DefinitionParts.labels(bytes)
        _ = TimerKey(definition: bytes.span, siphash: SipHash(secret: []))
    }

    /// Returns the layout of a definition with a recurrence whose `rdates` are these steps, as `RulesCodec` writes them.
    private func layout(steps: [Int64]) -> Definition.Layout? {
        guard let rule = try? RecurrenceSchedule(Array("FREQ=DAILY".utf8), zone: [0x55], from: 0, rdates: [77]) else {
            return nil
        }
        let bytes = Bench.definition("t", TimerRules(.recurrence(rule)))
        var old: [UInt8] = []
        ByteCoding.append(signed: 77, to: &old)
        var run: [UInt8] = []
        for step in steps { ByteCoding.append(signed: step, to: &run) }
        // The run of the dates, its length before it, then the empty run of `exdates`.
        let tail = [UInt8(old.count)] + old + [0]
        guard bytes.suffix(tail.count) == tail[...] else { return nil }
        var changed = Array(bytes.dropLast(tail.count))
        ByteCoding.append(run: run, to: &changed)
        return Definition.layout((changed + [0]).span)
    }

    @Test func `dates that no client can give are no definition`() throws {
        #expect(layout(steps: [77]) != nil)
        #expect(layout(steps: Array(repeating: 1, count: RecurrenceSchedule.dateLimit)) != nil)
        #expect(layout(steps: Array(repeating: 1, count: RecurrenceSchedule.dateLimit + 1)) == nil)
        #expect(layout(steps: [5, 0]) == nil)
        #expect(layout(steps: [5, -1]) == nil)
        #expect(layout(steps: [lastInstant, 1]) == nil)
        #expect(layout(steps: [.max]) == nil)
        #expect(layout(steps: [.min]) == nil)
    }
}
