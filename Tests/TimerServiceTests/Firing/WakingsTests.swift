import TestSupport
import Testing

@testable import TimerService

struct WakingsTests {
    @Test(arguments: [1, 2, 64, 1024], 1...5 as ClosedRange<UInt64>)
    func `the first waking of any number of partitions is found`(count: Int, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var wakings = Wakings(count: count)
        var model = [Int64](repeating: .max, count: count)
        #expect(wakings.first == .max)
        for _ in 0..<2000 {
            let number = Int.random(in: 0..<count, using: &generator)
            let instant = generator.chance(oneIn: 5) ? .max : Int64.random(in: 0...1000, using: &generator)
            wakings[number] = instant
            model[number] = instant
            let least = model.min() ?? .max
            #expect(wakings.first == least)
            if generator.chance(oneIn: 3) {
                let through = Int64.random(in: 0...1000, using: &generator)
                guard let popped = wakings.popFirst(through: through) else {
                    #expect(least > through)
                    continue
                }
                #expect(model[popped] == least && least <= through)
                model[popped] = .max
                #expect(wakings[popped] == .max)
            }
        }
    }
}
