import Testing
import TimerLog

@testable import TimerAPI

struct PartitionScopeTests {
    private let layout: PartitionLayout

    init() throws { layout = try #require(PartitionLayout(strided: 256)) }

    @Test func `a scope is walked by rising numbers`() {
        let numbers = [0, 1, 63, 64, 130, 255]
        let scope = PartitionScope(numbers.reversed(), of: layout)
        #expect(scope.numbers == numbers && !scope.isWhole && !scope.isEmpty)
        #expect((0..<256).filter { scope.contains($0) } == numbers && !scope.contains(256))
        #expect(scope.first(from: 65) == 130 && scope.next(after: 130) == 255 && scope.next(after: 255) == nil)
        let whole = PartitionScope(layout)
        #expect(whole.numbers == Array(0..<256) && whole.isWhole && whole.contains(255) && !whole.contains(256))
        #expect(PartitionScope(0..<256, of: layout).isWhole && PartitionScope([], of: layout).isEmpty)
        #expect(PartitionScope(.single).numbers == [0])
    }

    @Test func `its text gives it again, and nothing else does`() throws {
        let small = try #require(PartitionLayout(strided: 8))
        #expect(PartitionScope([0, 5], of: small).text == "21" && PartitionScope(small).text == "ff")
        let two = try #require(PartitionLayout(strided: 2))
        #expect(PartitionScope(two).text == "3" && PartitionScope("4".utf8, of: two) == nil)
        for numbers in [[0], [255], [3, 64, 199], Array(0..<256)] {
            let scope = PartitionScope(numbers, of: layout)
            #expect(PartitionScope(scope.text.utf8, of: layout)?.numbers == numbers)
        }
        for text in ["", "1", "00", "0g", "FF", "+1", "100"] {
            #expect(PartitionScope(text.utf8, of: small) == nil, "\(text)")
        }
    }

    @Test func `legs begin with the key's own partition`() {
        func legs(_ numbers: [Int]?, only: Int? = nil, home: Int? = nil) -> [Int] {
            let scope = numbers.map { PartitionScope($0, of: layout) } ?? PartitionScope(layout)
            var legs = PartitionLegs(scope, only: only, home: home)
            var walked = [legs.current]
            while !legs.isLast {
                legs.removeFirst()
                walked.append(legs.current)
            }
            #expect(legs.all == Set(walked))
            return walked
        }
        #expect(legs(nil) == Array(0..<256))
        #expect(legs(nil, home: 7) == [7] + (0..<256).filter { $0 != 7 })
        #expect(legs([3, 9, 20]) == [3, 9, 20] && legs([3, 9, 20], home: 9) == [9, 3, 20])
        #expect(legs([3, 9, 20], home: 3) == [3, 9, 20] && legs([3, 9, 20], home: 20) == [20, 3, 9])
        #expect(legs([3, 9, 20], home: 4) == [3, 9, 20])
        #expect(
            legs(nil, only: 5) == [5] && legs(nil, only: 5, home: 5) == [5] && legs(nil, only: 5, home: 2) == [2, 5])
        #expect(legs([2], only: 5, home: 2) == [2] && legs([5], only: 5, home: 2) == [5])
    }

    @Test func `fingerprints are read as they are written`() {
        let fingerprint = Hash128(high: 1, low: .max)
        #expect(PartHeader.fingerprint(PartHeader.text(fingerprint)) == fingerprint)
        for text in ["", "1", String(repeating: "G", count: 32), "+" + String(repeating: "1", count: 31)] {
            #expect(PartHeader.fingerprint(text.utf8) == nil)
        }
    }
}
