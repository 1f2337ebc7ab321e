import Foundation
import TestSupport

@testable import TimerCore

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
        let zone = Array("Europe/Brussels".utf8)
        let day = Schedule.day * random.number(1...36_525)
        var zoned: [Schedule] = [
            .every(day, first: .local(random.number(-62_167_219_200_000...253_402_300_799_999), zone: zone))
        ]
        let from = random.chance(oneIn: 2) ? nil : random.number(far)
        if let cron = try? CronSchedule(Array("0 3 * * MON".utf8), zone: zone, from: from) {
            zoned.append(.expecting(.cron(cron), grace: random.number(1...36_525 * 86_400_000)))
        }
        let dates = (0..<random.number(0...3)).map { _ in random.number(far) }.sorted()
        if let rule = try? RecurrenceSchedule(
            Array("FREQ=DAILY;COUNT=9".utf8), zone: zone, from: random.number(far), rdates: dates, exdates: dates)
        {
            zoned += [.recurrence(rule), .expecting(.recurrence(rule), grace: 1)]
        }
        let all = schedules + zoned
        var rules = TimerRules(all[Int(random.number(0...Int64(all.count - 1)))])
        rules.clock = random.chance(oneIn: 2) ? .wall : .continuous
        if random.chance(oneIn: 3), let name = CalendarName("office-\(random.number(0...9))".utf8) {
            rules.calendar = CalendarRule(name, onClosed: ClosedPolicy.allCases[Int(random.number(0...3))])
            if random.chance(oneIn: 2), let spent = SpentInstants(bounds: [-7, 0, random.number(1...lastInstant)]) {
                rules.calendar?.spent = spent
            }
            if random.chance(oneIn: 2) { rules.clock = .working }
        }
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

    /// Reads the definition in `bytes`; nil when they are none.
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
