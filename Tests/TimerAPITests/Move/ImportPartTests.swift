import Testing
import TimerCore
import TimerLog

@testable import TimerAPI

/// What servers send each other of an import.
struct ImportPartTests {
    private let part = ImportPart(stage: .apply, total: 300, fingerprint: Hash128(high: 7, low: .max))

    private func content(_ lines: [(Int, String)]) -> [UInt8] {
        var content = part.head
        for (number, line) in lines { ImportPart.append(Array(line.utf8)[...], number: number, to: &content) }
        return content
    }

    @Test func `a part is read as it was written`() throws {
        let lines = [(0, "{}"), (7, ""), (8, #"{"a": 1}"#), (299, "no JSON at all")]
        let content = content(lines)
        let (read, places) = try ImportPart.read(content)
        #expect(read == part && places.map(\.number) == lines.map(\.0))
        #expect(places.map { String(decoding: content[$0.range], as: UTF8.self) } == lines.map(\.1))
        #expect(part.head.count <= ImportPart.mostHeadBytes)
        let none = try ImportPart.read(part.head)
        #expect(none.part == part && none.lines == [])
    }

    @Test func `the numbers of most lines have room`() throws {
        let most = ImportPart(stage: .check, total: ImportRequest.mostLines, fingerprint: part.fingerprint)
        var content = most.head
        let head = content.count
        ImportPart.append([], number: ImportRequest.mostLines - 1, to: &content)
        #expect(content.count - head <= ImportPart.mostAdded && head <= ImportPart.mostHeadBytes)
        #expect(try ImportPart.read(content).lines.map(\.number) == [ImportRequest.mostLines - 1])
    }

    @Test func `what is malformed is refused`() {
        let good = String(decoding: part.head.dropLast(), as: UTF8.self)
        for wrong in [
            "", "apply", "apply 300", good.replacing("apply", with: "drop"), good.replacing("300", with: "0"),
            good.replacing("300", with: "100001"), good.replacing("ffff", with: "fff"), good + " more",
            good + "\n{}", good + "\n 1 {}", good + "\n300 {}", good + "\n-1 {}", good + "\n1 {}\n1 {}",
            good + "\n2 {}\n1 {}", good + "\n\n", good + "\n00000001 {}",
        ] {
            #expect(throws: Problem.self, "\(wrong)") { try ImportPart.read(Array(wrong.utf8)) }
        }
    }

    @Test func `lines go to the partitions of their timers, and what concerns all to all`() throws {
        let layout = try #require(PartitionLayout(strided: 16))
        let siphash = SipHash(secret: [UInt8](0..<16))
        func partition(_ id: String) -> Int {
            layout.partition(ofHash: TimerKey(id: Array(id.utf8).span, siphash: siphash).hash)
        }
        let lines: [(String, Int?)] = [
            (#"{"export":"x"}"#, nil), (#"{"timer":{"id":"tea"},"state":{}}"#, partition("tea")),
            (#"{"timer":{"after":"1s","id":"milk"},"state":{}}"#, partition("milk")),
            (#"{"delivery":{},"event":{"type":"fired","timer":"egg"}}"#, partition("egg")), (#"{"end":true}"#, nil),
            ("nonsense", 0), ("[]", 0), ("{}", 0), (#"{"timer":1}"#, 0), (#"{"timer":{"id":1}}"#, 0),
            (#"{"timer":{"id":".."}}"#, 0), (#"{"delivery":{},"event":{}}"#, 0),
            (#"{"state":{},"timer":{"id":"tea"}}"#, 0),
        ]
        var target = Target()
        try target.read(Array("/v1/import?part=0&export=\(String(repeating: "a", count: 32))".utf8))
        let body = lines.map(\.0).joined(separator: "\n")
        let request = try ImportRequest(target, Array(body.utf8), siphash: siphash)
        var spread = ImportSpread(request, layout, siphash: siphash)
        while !spread.isDone { spread.step() }
        #expect(spread.partitions == lines.map(\.1))
    }

    @Test func `results of partitions are added up`() {
        var sum = ImportResult()
        for part in [
            ImportResult(isApplied: true, next: 3, isComplete: true, timers: 2, deliveries: 1, skipped: 4),
            ImportResult(isApplied: false, next: 2, isComplete: false),
        ] {
            #expect(ImportResult(part.text) == part)
            sum.join(part)
        }
        #expect(sum == ImportResult(isApplied: true, next: 2, isComplete: false, timers: 2, deliveries: 1, skipped: 4))
        for wrong in ["", "[]", "{}", #"{"next":"1"}"#] { #expect(ImportResult(Array(wrong.utf8)) == nil) }
    }
}
