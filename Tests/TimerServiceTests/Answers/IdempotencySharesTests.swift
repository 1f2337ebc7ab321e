import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Principals in one table of idempotency keys: which of them forget when it is full.
struct IdempotencySharesTests {
    private static let day: Int64 = 86_400_000

    private static func key(_ number: UInt64) throws -> KeyID { try #require(KeyID(bits: number)) }

    private static func answer(
        _ number: Int, by principal: KeyID? = nil, at wall: Int64? = nil, bytes: Int = 5
    ) -> LogFold.AnswerPlace {
        let answer = StoredAnswer(
            .numbered(UInt64(number), by: principal), answeredAt: wall ?? Int64(number),
            answer: [UInt8](repeating: 0, count: bytes))
        return LogFold.AnswerPlace(answer, position: Int64(number))
    }

    /// The numbers of the answers that a table still has.
    private static func kept(_ table: IdempotencyTable, of answers: [LogFold.AnswerPlace]) -> [Int64] {
        answers.filter { table.holds($0) }.map(\.position)
    }

    @Test func `a flood under one key pushes out nobody else's answers`() throws {
        var table = IdempotencyTable(maximum: 10)
        let (kicker, writer) = (try Self.key(1), try Self.key(2))
        let owed = [1, 2, 3].map { Self.answer($0, by: writer) } + [4, 5].map { Self.answer($0) }
        for answer in owed { table.note(answer) }
        let flood = (100..<1000).map { Self.answer($0, by: kicker) }
        for answer in flood { table.note(answer) }
        #expect(table.count == 10)
        #expect(Self.kept(table, of: owed) == [1, 2, 3, 4, 5])
        #expect(Self.kept(table, of: flood) == [995, 996, 997, 998, 999])
        #expect(table.begin(.numbered(1, by: writer), at: 1000) == .answered([1]))
        #expect(table.begin(.numbered(100, by: kicker), at: 1000) == .fresh)
    }

    @Test func `a flood of long answers pushes out nobody else's, however few they are`() throws {
        var table = IdempotencyTable(maximum: 100, maximumBytes: 100)
        let (many, long) = (try Self.key(1), try Self.key(2))
        let short = (1...40).map { Self.answer($0, by: many, bytes: 1) }
        for answer in short { table.note(answer) }
        for number in 50..<60 { table.note(Self.answer(number, by: long, bytes: 30)) }
        #expect(Self.kept(table, of: short).count == 40)
        #expect(table.count == 42 && table.answerBytes == 100)
    }

    @Test func `a principal alone forgets its own oldest`() throws {
        var table = IdempotencyTable(maximum: 3)
        let answers = try (1...5).map { Self.answer($0, by: try Self.key(7)) }
        for answer in answers { table.note(answer) }
        #expect(Self.kept(table, of: answers) == [3, 4, 5])
    }

    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    func `of those that hold as much the key with the greatest id forgets, the tokens last`(_ order: [Int]) throws {
        let answers = [nil, try Self.key(0), try Self.key(9)].enumerated().map { Self.answer($0 + 1, by: $1, at: 5) }
        for (maximum, expected) in [(2, [1, 2]), (1, [1])] as [(Int, [Int64])] {
            var table = IdempotencyTable(maximum: maximum)
            for index in order { table.note(answers[index]) }
            #expect(Self.kept(table, of: answers) == expected)
        }
    }

    @Test func `a key whose time is over goes before any other, whoever has it`() throws {
        var table = IdempotencyTable(maximum: 3)
        let (old, busy) = (try Self.key(1), try Self.key(2))
        var answers = [2, 3, 4].map { Self.answer($0, by: busy, at: Self.day + Int64($0)) }
        answers.insert(Self.answer(1, by: old, at: 0), at: 0)
        for answer in answers { table.note(answer) }
        #expect(Self.kept(table, of: answers) == [2, 3, 4])
    }

    @Test func `a run under way is not forgotten, and counts once it has ended`() throws {
        var table = IdempotencyTable(maximum: 2)
        let runner = try Self.key(1)
        var runs = (1...4).map { Self.answer($0, by: runner, bytes: 50) }
        for index in runs.indices {
            #expect(table.begin(runs[index].request, at: 1) == .fresh)
            runs[index].part = AnswerPart(origin: runs[index].position, index: 0, isLast: false)
            table.note(runs[index])
        }
        let others = [Self.answer(10), Self.answer(11)]
        for answer in others { table.note(answer) }
        #expect(Self.kept(table, of: runs + others) == [1, 2, 3, 4, 10, 11])
        for run in runs { table.release(run.request.key) }
        #expect(table.count == 6)
        _ = table.begin(.numbered(20), at: 20)
        #expect(Self.kept(table, of: runs + others) == [4, 11])
    }

    @Test func `a principal of a request under way stays it when the log is folded again`() throws {
        var table = IdempotencyTable(maximum: 2)
        let flood = try Self.key(1)
        #expect(table.begin(.numbered(1, by: flood), at: 1) == .fresh)
        var again = table.underWay()
        let answers = [
            Self.answer(2), Self.answer(3), Self.answer(4, by: flood), Self.answer(1, by: flood, at: 5),
        ]
        for answer in answers { again.note(answer) }
        #expect(Self.kept(again, of: answers) == [3, 1])
    }

    /// The rule, applied to all answers each time.
    private struct Model {
        var kept: [LogFold.AnswerPlace] = []
        let maximum: Int
        let maximumBytes: Int

        mutating func note(_ answer: LogFold.AnswerPlace) {
            kept.append(answer)
            kept.removeAll { answer.answeredAt - $0.answeredAt > day }
            while kept.count > maximum { forget { _ in 1 } }
            while kept.reduce(0, { $0 + $1.byteCount }) > maximumBytes { forget(\.byteCount) }
        }

        /// Removes the oldest answer of the principal whose answers weigh most.
        private mutating func forget(_ weight: (LogFold.AnswerPlace) -> Int) {
            let shares = Dictionary(grouping: kept) { $0.request.principal.map { Int($0.bits) } ?? -1 }
            let heaviest = shares.max { left, right in
                let weights = (left.value.reduce(0) { $0 + weight($1) }, right.value.reduce(0) { $0 + weight($1) })
                return (weights.0, left.key) < (weights.1, right.key)
            }
            guard let oldest = heaviest?.value.first else { return }
            kept.removeAll { $0.position == oldest.position }
        }
    }

    /// Random answers of a few principals, each of which has its turn to send most.
    private static func answers(_ generator: inout SeededGenerator, step: Int64) throws -> [LogFold.AnswerPlace] {
        let principals: [KeyID?] = [nil] + (try (1...4).map { try key($0 * 7 % 5) })
        var wall: Int64 = 1
        var busy: KeyID?
        return (1...300).map { number in
            if number % 20 == 1 { busy = principals[Int.random(in: 0..<5, using: &generator)] }
            wall += Int64.random(in: 1...step, using: &generator)
            let other = principals[Int.random(in: 0..<5, using: &generator)]
            return answer(
                number, by: generator.chance(oneIn: 3) ? other : busy, at: wall,
                bytes: Int.random(in: 0...30, using: &generator))
        }
    }

    @Test(arguments: [(maximumBytes: Int.max, step: Int64(1)), (300, 1), (300, 3_000_000)])
    func `the table is what the rule alone would leave`(_ maximumBytes: Int, _ step: Int64) throws {
        for seed: UInt64 in 0..<20 {
            var generator = SeededGenerator(seed: seed)
            let answers = try Self.answers(&generator, step: step)
            let maximum = Int.random(in: 5...40, using: &generator)
            var table = IdempotencyTable(maximum: maximum, maximumBytes: maximumBytes)
            var model = Model(maximum: maximum, maximumBytes: maximumBytes)
            for answer in answers {
                table.note(answer)
                model.note(answer)
                #expect(Self.kept(table, of: answers) == model.kept.map(\.position), "seed \(seed)")
            }
            #expect(table.count == model.kept.count)
            #expect(table.answerBytes == model.kept.reduce(0) { $0 + $1.byteCount })
        }
    }

    @Test func `a log folded again gives the same table, whatever compaction has left out`() throws {
        for seed: UInt64 in 0..<50 {
            var generator = SeededGenerator(seed: seed)
            let answers = try Self.answers(&generator, step: 1)
            let maximum = Int.random(in: 5...40, using: &generator)
            var table = IdempotencyTable(maximum: maximum)
            let compaction = Int.random(in: 0..<answers.count, using: &generator)
            let through = Int64.random(in: 0...Int64(compaction), using: &generator)
            var log: [LogFold.AnswerPlace] = []
            for (index, answer) in answers.enumerated() {
                table.note(answer)
                log.append(answer)
                if index == compaction { log.removeAll { $0.position <= through && !table.holds($0) } }
            }
            var again = IdempotencyTable(maximum: maximum).underWay()
            for answer in log { again.restore(answer) }
            #expect(Self.kept(again, of: answers) == Self.kept(table, of: answers), "seed \(seed)")
            #expect(again.count == table.count && again.answerBytes == table.answerBytes)
        }
    }
}
