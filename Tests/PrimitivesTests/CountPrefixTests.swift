import Primitives
import Testing

struct CountPrefixTests {
    @Test(arguments: 0...9) func `the elements before the first that does not match are counted`(count: Int) {
        let numbers = Array(0..<count)
        for limit in -1...10 {
            #expect(numbers.countPrefix { $0 < limit } == min(max(limit, 0), count))
            // A slice has places of its own.
            #expect(numbers.dropFirst(3).countPrefix { $0 < limit } == max(0, min(limit, count) - 3))
        }
    }
}
