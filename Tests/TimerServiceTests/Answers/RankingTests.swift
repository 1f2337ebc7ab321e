import TestSupport
import Testing

@testable import TimerService

struct RankingTests {
    @Test func `the first is the heaviest, and of several the one with the greatest name`() {
        var ranking = Ranking()
        #expect(ranking.first == nil)
        ranking.set(3, name: 30, weight: 5)
        ranking.set(1, name: 10, weight: 5)
        #expect(ranking.first == 3)
        ranking.set(1, name: 10, weight: 6)
        #expect(ranking.first == 1)
        ranking.set(1, name: 10, weight: -1)
        #expect(ranking.first == 3)
        ranking.remove(3)
        ranking.remove(7)
        #expect(ranking.first == 1)
        ranking.remove(1)
        #expect(ranking.first == nil)
    }

    @Test func `the ranking is what a search of all would find`() {
        var generator = SeededGenerator(seed: 11)
        var ranking = Ranking()
        var model: [Int: Int64] = [:]
        for _ in 0..<5000 {
            let number = Int.random(in: 0..<40, using: &generator)
            if generator.chance(oneIn: 4) {
                ranking.remove(number)
                model[number] = nil
            } else {
                let weight = generator.number(-5...5)
                ranking.set(number, name: UInt64(100 - number), weight: weight)
                model[number] = weight
            }
            #expect(ranking.first == model.max { ($0.value, -$0.key) < ($1.value, -$1.key) }?.key)
        }
    }
}
