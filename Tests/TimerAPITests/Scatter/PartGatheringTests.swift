import HTTPServer
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerAPI

/// Counts, stats and drains that are added up.
struct PartGatheringTests {
    private let whole = PartitionScope(.single)

    private func part(_ body: String) -> PartAnswer { PartAnswer(status: 200, body: Array(body.utf8)) }

    private func stats(_ number: Int, drained: Bool = false) -> ServerStats {
        ServerStats(
            version: "v\(number)", uptime: Int64(1000 * number),
            timers: TimerState.allCases.map { number * 10 + Int($0.rawValue) },
            counts: ServerStats.Count.allCases.map { number * 100 + $0.rawValue }, isDrained: drained,
            head: EventID(Int64(7 - number)))
    }

    @Test func `counts are added up`() {
        let gathering = CountGathering(whole)
        #expect(gathering.add(part(#"{"matched":3,"changed":2,"skipped":1}"#), for: whole))
        #expect(gathering.add(part(#"{"matched":40,"changed":20,"skipped":20}"#), for: whole))
        #expect(gathering.counts == BulkCounts(matched: 43, changed: 22, skipped: 21))
        for wrong in [
            "", "[]", "{}", #"{"matched":1,"changed":-1,"skipped":0}"#, #"{"matched":"1","changed":1,"skipped":0}"#,
        ] {
            #expect(!gathering.add(part(wrong), for: whole))
        }
    }

    @Test func `attempts under way are added up`() {
        let gathering = DrainGathering(whole, isDrained: true)
        for attempts in [2, 3] {
            #expect(gathering.add(part(#"{"drained":true,"attemptsUnderWay":\#(attempts)}"#), for: whole))
        }
        #expect(gathering.attemptsUnderWay == 5 && !gathering.add(part("{}"), for: whole))
    }

    @Test func `stats are added up, but for what is of one server`() throws {
        var sum = stats(1)
        for other in [stats(2, drained: true), stats(3)] {
            #expect(sum.add(try #require(CountReader(other.text))))
        }
        #expect(sum.version == "v1" && sum.uptime == 1000 && sum.isDrained && sum.head == EventID(4))
        #expect(sum.timers == TimerState.allCases.map { 60 + 3 * Int($0.rawValue) })
        for count in ServerStats.Count.allCases {
            let own = count == .logBytes || count == .residentBytes
            #expect(sum.counts[count.rawValue] == (own ? 100 + count.rawValue : 600 + 3 * count.rawValue))
        }
        var other = stats(1)
        #expect(!other.add(try #require(CountReader(Array("{}".utf8)))))
    }

    @Test func `results of a batch are refused where lines are missing`() throws {
        let layout = try #require(PartitionLayout(strided: 2))
        let body = Array("{}\n{}\n{}\n".utf8)
        let run = try BatchRun(
            body, isBrief: true, key: nil, layout: layout, siphash: SipHash(secret: [UInt8](0..<16)), zones: UTCOnly())
        while !run.isSpread { run.prepare(IDSource().next, requestID: []) }
        let all = PartitionScope(layout)
        let gathering = BatchGathering(run, layout, home: nil)
        #expect(!gathering.add(part("a\nb\n"), for: all) && !gathering.add(part("a\nb\nc\nd\n"), for: all))
        #expect(gathering.add(part("a\nb\nc\n"), for: all))
        let lines = String(decoding: gathering.content(for: all) ?? [], as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0 == "0 {}" || $0 == "1 {}" })
    }

    @Test func `a line of a part names one of the part's partitions`() throws {
        let layout = try #require(PartitionLayout(strided: 16))
        let scope = PartitionScope([3, 12], of: layout)
        let body = Array("12 {\"after\":1}".utf8)
        var line = 0..<body.count
        #expect(try PartLine.partition(body, &line, of: scope) == 12 && line == 3..<body.count)
        for wrong in ["", "12", "12{}", "4 {}", "16 {}", "99999 {}", " 3 {}", "-3 {}", "{}"] {
            let body = Array(wrong.utf8)
            var line = 0..<body.count
            #expect(throws: Problem.self, "\(wrong)") { try PartLine.partition(body, &line, of: scope) }
        }
    }
}
