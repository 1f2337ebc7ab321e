import Foundation
import TestSupport
import Testing
import TimerCore
import TimerLog
import WireJSON

@testable import TimerAPI
@testable import TimerService

/// Declarations, from a body's fields to what changes, on a service that sends nothing.
struct DeclarationTests {
    private let service: TimerService
    private var engine: Engine { service.engine }

    init() throws {
        service = try TimerService(store: MemoryLogStore(), configuration: EngineConfiguration()) { _ in }
    }

    private func turn<Value>(_ body: (borrowing Turn) throws -> Value) throws -> Value {
        let result = engine.turn { (turn: borrowing Turn) -> Result<Value, any Error> in
            do { return .success(try body(turn)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func declaration(
        _ text: String, if condition: VersionCondition, unless: VersionCondition
    ) throws -> Declaration {
        var document = JSONDocument()
        try document.parse(Array(text.utf8))
        let body = try TimerBody(document, zones: engine.zones)
        let id = body.id ?? Array("t".utf8)
        return try Declaration(
            body, id: id, key: TimerKey(id: id.span, siphash: engine.siphash), if: condition, unless: unless)
    }

    /// Applies a declaration. Returns its effect, such as `new v1` or `v2`.
    @discardableResult
    private func apply(
        _ text: String, if condition: VersionCondition = .none, unless: VersionCondition = .none
    ) throws -> String {
        let declaration = try declaration(text, if: condition, unless: unless)
        return try turn { (turn: borrowing Turn) in
            switch try declaration.apply(turn) {
            case .timer(let slot, let isNew):
                let version = turn.read { (scheduler: borrowing Scheduler) in scheduler.progress(slot).version }
                return isNew ? "new v\(version)" : "v\(version)"
            case .problem(let problem): return "400 \(problem.pointer ?? "")"
            case .differences: return "a dry run"
            }
        }
    }

    /// The pointers that a dry run gives.
    private func differences(
        _ text: String, if condition: VersionCondition = .none, unless: VersionCondition = .none
    ) throws -> [String] {
        let declaration = try declaration(text, if: condition, unless: unless)
        let before = try head()
        let found = try turn { (turn: borrowing Turn) in
            guard case .differences(let differences) = try declaration.differences(turn) else { return ["a problem"] }
            return differences.pointers
        }
        #expect(try head() == before)
        return found
    }

    private func head() throws -> Int64 { try turn { (turn: borrowing Turn) in turn.head } }

    private func shown() throws -> String {
        let key = TimerKey(id: Array("t".utf8).span, siphash: engine.siphash)
        var view = TimerView()
        try turn { (turn: borrowing Turn) in
            guard let slot = turn.find(key) else { throw TimerRefusal.notFound }
            turn.copy(slot, into: &view)
        }
        var json = JSONWriter()
        TimerJSON.write(view, &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static let secret = "whsec_" + Data([UInt8](repeating: 7, count: 32)).base64EncodedString()
    private static let mask = "whsec_…" + secret.suffix(4)

    private static let same = [
        (#"{"after":"1m"}"#, #"{"after":"PT60S"}"#),
        (#"{"at":"2040-01-01T00:00:00Z"}"#, #"{"at":"2040-01-01T01:00:00.000+01:00"}"#),
        (
            #"{"after":"1m"}"#,
            #"{"id":"t","after":"60s","start":"now","stop":null,"clock":"continuous","leeway":"0s","jitter":"0ms","#
                + #""onResume":"remaining","misfire":"once","misfireGrace":null,"maxFires":null,"until":null,"#
                + #""restartable":false,"retain":"1d","labels":{},"payload":null,"webhook":null}"#
        ),
        (
            #"{"watchdog":"1m"}"#,
            #"{"watchdog":"1m","misses":1,"repeatAlarm":false,"clock":"suspending","labels":null}"#
        ),
        (#"{"every":"1h"}"#, #"{"every":"60m","mode":"fixedRate","timeZone":"UTC"}"#),
        (#"{"every":"1h","labels":{"a":"1","b":"2"}}"#, #"{"labels":{"b":"2","a":"1"},"every":"1h"}"#),
        (#"{"every":"1h","payload":[1.0,{"k" : "\u0041"}]}"#, #"{"every":"1h","payload":[ 1.0, {"k":"\u0041"} ]}"#),
        (#"{"cron":"0 9 * * *","from":"2040-01-01T00:00:00Z"}"#, #"{"cron":"0 9 * * *","timeZone":"UTC"}"#),
        (
            #"{"every":"1h","webhook":"https://hooks.example/"}"#,
            #"{"every":"1h","webhook":{"url":"https://hooks.example/","method":"POST","headers":{},"timeout":"PT15S","#
                + #""types":["fired"],"retry":{"multiplier":2.0}}}"#
        ),
        (
            #"{"every":"1h","webhook":{"url":"https://hooks.example/","headers":{"X-A":"1","X-B":"2"}}}"#,
            #"{"every":"1h","webhook":{"url":"https://hooks.example/","headers":{"X-B":"2","X-A":"1"}}}"#
        ),
        (
            #"{"every":"1h","webhook":{"url":"https://hooks.example/","headers":{"X-A":"1"},"secretHeaders":["X-A"]}}"#,
            #"{"every":"1h","webhook":{"url":"https://hooks.example/","headers":{"X-A":"***"}}}"#
        ),
        (
            #"{"every":"1h","webhook":{"url":"https://hooks.example/","secret":"\#(secret)"}}"#,
            #"{"every":"1h","webhook":{"url":"https://hooks.example/","secret":["\#(mask)"]}}"#
        ),
    ]

    @Test(arguments: same)
    func `what says the same changes nothing`(first: String, again: String) throws {
        #expect(try apply(first) == "new v1")
        let made = try head()
        for text in [first, again, try shown()] {
            #expect(try differences(text) == [])
            #expect(try apply(text) == "v1", "\(text)")
        }
        #expect(try head() == made)
    }

    @Test(
        arguments: [
            (#"{"after":"1m"}"#, #"{"after":"61s"}"#, ["/after"]),
            (#"{"after":"1m"}"#, #"{"after":"1m","clock":"wall"}"#, ["/clock"]),
            (#"{"after":"1m"}"#, #"{"every":"1m"}"#, ["/after", "/every"]),
            (
                #"{"every":"1m","mode":"fixedDelay"}"#, #"{"watchdog":"1m","misses":3}"#,
                ["/every", "/mode", "/watchdog", "/misses"]
            ),
            (#"{"after":"1m","labels":{"a":"1","b":"2"}}"#, #"{"after":"1m","labels":{"a":"1"}}"#, ["/labels"]),
            (#"{"after":"1m","payload":1}"#, #"{"after":"1m","payload":1.0}"#, ["/payload"]),
            (#"{"after":"1m","payload":1}"#, #"{"after":"1m"}"#, ["/payload"]),
            (
                #"{"after":"1m"}"#, #"{"after":"1m","start":"manual","retain":"2d","maxFires":2}"#,
                ["/start", "/retain", "/maxFires"]
            ),
            (#"{"cron":"0 9 * * MON"}"#, #"{"cron":"0 9 * * 1"}"#, ["/cron"]),
            (
                #"{"cron":"0 9 * * *","from":"2040-01-01T00:00:00Z"}"#,
                #"{"cron":"0 9 * * *","from":"2041-01-01T00:00:00Z"}"#, ["/from"]
            ),
            (#"{"after":"1m"}"#, #"{"after":"1m","webhook":"https://hooks.example/"}"#, ["/webhook"]),
            (
                #"{"after":"1m","webhook":"https://hooks.example/"}"#,
                #"{"after":"1m","webhook":{"url":"https://hooks.example/","types":["fired","created"]}}"#, ["/webhook"]
            ),
            (
                #"{"after":"1m","webhook":{"url":"https://hooks.example/","secret":"\#(secret)"}}"#,
                #"{"after":"1m","webhook":"https://hooks.example/"}"#, ["/webhook"]
            ),
        ] as [(String, String, [String])])
    func `what differs is named and changed`(first: String, again: String, pointers: [String]) throws {
        #expect(try apply(first) == "new v1")
        #expect(try differences(again) == pointers)
        #expect(try apply(again) == "v2")
        #expect(try differences(again) == [])
        #expect(try apply(again) == "v2")
    }

    @Test func `a timer that is not there differs as a whole, and is made`() throws {
        #expect(try differences(#"{"after":"1m"}"#) == [""])
        #expect(try apply(#"{"after":"1m"}"#) == "new v1")
    }

    @Test func `a mask needs the secret that it stands for`() throws {
        let masked = #"{"after":"1m","webhook":{"url":"https://hooks.example/","secret":"\#(Self.mask)"}}"#
        #expect(try apply(masked) == "400 /webhook/secret")
        #expect(try apply(#"{"after":"1m","webhook":"https://hooks.example/"}"#) == "new v1")
        #expect(try apply(masked) == "400 /webhook/secret")
        #expect(try differences(masked) == ["a problem"])
    }

    @Test func `conditions are judged first`() throws {
        let body = #"{"after":"1m"}"#
        func refusal(_ current: Int64?) -> ServiceError { .refused(.versionMismatch(current: current)) }
        #expect(throws: refusal(nil)) { try apply(body, if: .oneOf([1])) }
        #expect(try apply(body, unless: .exists) == "new v1")
        for (condition, unless) in [(.oneOf([2]), .none), (.none, .exists)] as [(VersionCondition, VersionCondition)] {
            #expect(throws: refusal(1)) { try apply(body, if: condition, unless: unless) }
            #expect(throws: refusal(1)) { try differences(body, if: condition, unless: unless) }
        }
        #expect(try apply(body, if: .oneOf([1])) == "v1")
        #expect(try apply(#"{"after":"2m"}"#, if: .exists) == "v2")
    }

    @Test func `a dry run is refused where the change would be`() throws {
        let never = #"{"after":"1m","until":"2020-01-01T00:00:00Z"}"#
        let refusal = ServiceError.refused(
            .invalidSchedule(pointer: "/until", reason: "no fire is due at or before `until`"))
        for _ in 0..<2 {
            #expect(throws: refusal) { try differences(never) }
            #expect(throws: refusal) { try apply(never) }
            try apply(#"{"after":"1m"}"#)
        }
    }

    /// The result lines of a batch, brief.
    private func batch(_ lines: [String]) throws -> [String] {
        let run = try BatchRun(
            Array(lines.joined(separator: "\n").utf8), .lines, isBrief: true, keepsParts: false,
            siphash: engine.siphash,
            zones: engine.zones)
        repeat {
            run.prepare({ Array("made".utf8) }, requestID: [])
            try turn { (turn: borrowing Turn) in try run.apply(turn) }
        } while !run.isApplied
        run.prepare({ [] }, requestID: [])
        var bytes: [UInt8] = []
        run.appendOutput(to: &bytes)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `a batch takes declarations among its lines`() throws {
        let results = try batch([
            #"{"apply":{"id":"a","after":"1h"}}"#, #"{"apply":{"after":"60m","id":"a"},"ifMatch":"v1"}"#,
            #"{"command":"suspend","id":"a"}"#, #"{"apply":{"id":"a","after":"1h"}}"#,
            #"{"apply":{"id":"a","after":"2h"},"ifMatch":null}"#, #"{"apply":{"id":"a","after":"2h"},"ifMatch":"v1"}"#,
            #"{"apply":{"id":"b","after":"2h"},"ifMatch":"v1"}"#,
        ])
        #expect(
            results.prefix(5) == [
                #"{"status":201,"id":"a","version":1}"#, #"{"status":200,"id":"a","version":1}"#,
                #"{"status":200,"id":"a","version":2}"#, #"{"status":200,"id":"a","version":2}"#,
                #"{"status":200,"id":"a","version":3}"#,
            ])
        #expect(results.dropFirst(5).allSatisfy { $0.hasPrefix(#"{"status":412,"#) })
    }

    @Test(arguments: [
        (#"{"apply":{"after":"1h"}}"#, "/apply/id"), (#"{"apply":[]}"#, "/apply"), (#"{"apply":null}"#, "/apply"),
        (#"{"apply":{"id":"a","after":"x"}}"#, "/apply/after"), (#"{"apply":{"id":"a"}}"#, "/apply"),
        (#"{"apply":{"id":"a","after":"1h","apply":1}}"#, "/apply/apply"),
        (#"{"apply":{"id":"a","after":"1h","until":"2020-01-01T00:00:00Z"}}"#, "/apply/until"),
        (
            #"{"apply":{"id":"a","after":"1h","webhook":{"url":"https://a.example/","secret":"whsec_…AAAA"}}}"#,
            "/apply/webhook/secret"
        ),
        (#"{"apply":{"id":"a","after":"1h"},"ifMatch":3}"#, "/ifMatch"),
        (#"{"apply":{"id":"a","after":"1h"},"dryRun":true}"#, "/dryRun"),
        (#"{"command":"apply","id":"a"}"#, "/command"),
    ])
    func `what is wrong in a line is pointed at`(line: String, pointer: String) throws {
        let results = try batch([line])
        #expect(results.count == 1)
        #expect(
            results[0].hasPrefix(#"{"status":400,"#) && results[0].contains(#""pointer":"\#(pointer)""#), "\(results)")
    }

    @Test func `ten thousand declarations that change nothing make no record`() throws {
        let lines = (0..<10_000).map { #"{"apply":{"id":"t\#($0 % 100)","every":"1h","labels":{"n":"\#($0 % 100)"}}}"# }
        #expect(try batch(Array(lines.prefix(100))).allSatisfy { $0.hasPrefix(#"{"status":201,"#) })
        let made = try head()
        #expect(try batch(lines).count { $0.hasPrefix(#"{"status":200,"#) } == 10_000)
        #expect(try head() == made)
    }
}
