import Foundation
import Testing

@testable import TimerCore

// Spans can't be handed to the macros.
extension Definition {
    static func layout(_ bytes: [UInt8]) -> Layout? { layout(bytes.span) }
    static func prefixCount(_ bytes: [UInt8]) -> Int? { prefixCount(bytes.span) }
}

extension TimerID {
    static func isValid(_ text: String) -> Bool { isValid(Array(text.utf8).span) }
}

/// A definition and the parts it was made of.
struct DefinitionParts: Equatable {
    var id: String
    var labels: [[String]]
    var rules: TimerRules
    var payload: String

    static func random(_ random: inout SeededGenerator) -> DefinitionParts {
        let far: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_800_000
        let long: ClosedRange<Int64> = 0...36_525 * 86_400_000
        let first: [Schedule.First] = [.period, .after(random.number(long)), .at(random.number(far))]
        let schedules: [Schedule] =
            [.after(random.number(long)), .at(random.number(far))]
            + first.map { .every(random.number(1...36_525 * 86_400_000), first: $0) }
        var rules = TimerRules(schedules[Int(random.number(0...4))])
        rules.clock = random.chance(oneIn: 2) ? .wall : .continuous
        rules.mode = random.chance(oneIn: 2) ? .fixedRate : .fixedDelay
        rules.start = random.chance(oneIn: 2) ? .now : .manual
        rules.onResume = ResumePolicy.allCases[Int(random.number(0...2))]
        if random.chance(oneIn: 2) { rules.maxFires = random.number(1...Int64.max) }
        if random.chance(oneIn: 2) { rules.until = random.number(far) }
        rules.restartable = random.chance(oneIn: 2)
        if random.chance(oneIn: 2) { rules.retain = random.number(long) }
        let letters = Array("abcXYZ019._~-")
        let length = random.chance(oneIn: 5) ? 128 : Int(random.number(1...40))
        let id =
            random.chance(oneIn: 3)
            ? uuid(&random) : String((0..<length).map { _ in letters[Int(random.number(0...12))] })
        let labels = (0..<random.number(0...16)).map { index in
            ["key\(index)", String(repeating: "ü", count: Int(random.number(0...127)))]
        }
        let payload =
            random.chance(oneIn: 2) ? "" : "[\"\(String(repeating: "p", count: Int(random.number(0...3000))))\"]"
        return DefinitionParts(id: id, labels: labels, rules: rules, payload: payload)
    }

    static func uuid(_ random: inout SeededGenerator) -> String {
        let digits = String(format: "%016lx%016lx", random.next(), random.next())
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    var encoded: [UInt8] {
        Bench.definition(id, rules, labels: labels.map { ($0[0], $0[1]) }, payload: payload)
    }

    /// What `bytes` say; nil when they are no definition.
    init?(_ bytes: [UInt8]) {
        guard let layout = Definition.layout(bytes) else { return nil }
        var text: [UInt8] = []
        Definition.appendID(bytes.span, to: &text)
        id = String(decoding: text, as: UTF8.self)
        labels = Self.labels(bytes)
        rules = layout.rules
        payload = layout.payload.map { String(decoding: bytes[$0], as: UTF8.self) } ?? ""
    }

    init(id: String, labels: [[String]], rules: TimerRules, payload: String) {
        self.id = id
        self.labels = labels
        self.rules = rules
        self.payload = payload
    }

    static func labels(_ bytes: [UInt8]) -> [[String]] {
        let run = Definition.labels(bytes.span)
        var offset = run.lowerBound
        var labels: [[String]] = []
        while let (key, value) = Definition.nextLabel(bytes.span, &offset, end: run.upperBound) {
            labels.append([String(decoding: bytes[key], as: UTF8.self), String(decoding: bytes[value], as: UTF8.self)])
        }
        return labels
    }
}

/// The one form a timer has in memory and in the log.
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
        for clock in TimerClock.allCases {
            func traits(_ schedule: Schedule, _ edit: (inout TimerRules) -> Void = { _ in }) -> Definition.Traits {
                let rules = rules(schedule) {
                    $0.clock = clock
                    edit(&$0)
                }
                return Definition.traits(Bench.definition("t", rules).span)
            }
            #expect(traits(.after(1)).clock == clock)
            #expect(traits(.after(1)).isDisjoint(with: .cron))
            for schedule in [.after(1), .at(1), .every(1, first: .period)] as [Schedule] {
                #expect(traits(schedule).contains(.punctual))
                for edit in late { #expect(!traits(schedule, edit).contains(.punctual)) }
            }
            #expect(!traits(.watchdog(1)).contains(.punctual))
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
}

/// What can name a timer.
struct TimerIDTests {
    @Test(arguments: [
        "a", "0", "-", "_", "~", "...", "a.b", ".a", "Batch", "batches", "bulk-1", "A-Z_a~z.0",
        String(repeating: "x", count: 128),
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "3F2504E0-4F89-11D3-9A0C-0305E82C3301",
    ])
    func `a name is taken and kept as it is`(id: String) throws {
        #expect(TimerID.isValid(id))
        let bench = Bench()
        try bench.create(rules(.after(1)), id: id)
        #expect(bench.id(try bench.slot(id)) == id)
    }

    @Test(arguments: [
        "", ".", "..", "batch", "bulk", "a b", "a/b", "ä", "a%20", "a+b", "a:b", "a@b", "\u{0}", "a\n", "é",
        String(repeating: "x", count: 129), "[", "`", "{", ",", "^",
    ])
    func `what would not fit a path is refused`(id: String) {
        #expect(!TimerID.isValid(id))
    }

    @Test func `every byte alone`() {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~-".utf8)
        for byte in UInt8.min ... .max {
            let text = [byte]
            #expect(TimerID.isValid(text.span) == allowed.contains(byte))
        }
    }

    @Test func `a lower-case UUID takes 17 bytes, anything like it its length`() {
        var random = SeededGenerator(seed: 47)
        for _ in 0..<500 {
            let uuid = DefinitionParts.uuid(&random)
            #expect(Self.kept(uuid).count == 17)
            #expect(Self.kept(uuid.uppercased()).count == (uuid == uuid.uppercased() ? 17 : 37))
            var almost = Array(uuid)
            almost[Int(random.number(0...35))] = "g"
            #expect(Self.kept(String(almost)).count == 37)
            for id in [uuid, uuid.uppercased(), String(almost)] {
                var text: [UInt8] = []
                text.append(addingCapacity: 128) { TimerID.appendText(kept: Self.kept(id).span, to: &$0) }
                #expect(String(decoding: text, as: UTF8.self) == id)
            }
        }
    }

    @Test func `any byte at any place of a UUID is a digit or a hyphen there, or makes it another id`() {
        let uuid = Array("019a0f3c-5b6d-7e8f-9012-3456789abcde".utf8)
        for place in uuid.indices {
            let allowed = Set((uuid[place] == UInt8(ascii: "-") ? "-" : "0123456789abcdef").utf8)
            for byte in UInt8.min ... .max {
                var id = uuid
                id[place] = byte
                let kept = Self.kept(id)
                #expect(kept.count == (allowed.contains(byte) ? 17 : 37))
                var text: [UInt8] = []
                text.append(addingCapacity: 128) { TimerID.appendText(kept: kept.span, to: &$0) }
                #expect(text == id)
            }
        }
    }

    private static func kept(_ id: String) -> [UInt8] { kept(Array(id.utf8)) }

    private static func kept(_ id: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        TimerID.appendKept(id.span, to: &bytes)
        return bytes
    }
}
