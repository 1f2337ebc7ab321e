import Testing
import TimerLog

@testable import TimerService

struct ShownPositionsTests {
    private var shown = ShownPositions()

    /// Meets rows that end at these positions, each of which begins two positions after the end of the one before.
    private mutating func meet(after start: Int64 = 0, _ ends: Int64...) -> [LostRows] {
        var previous = start
        var lost: [LostRows] = []
        for end in ends {
            let row = LogRow(first: min(previous + 2, end), last: end, previous: previous, data: [])
            if let found = shown.meet(row) { lost.append(found) }
            previous = end
        }
        return lost
    }

    /// Meets a row alone.
    private mutating func meet(_ positions: ClosedRange<Int64>, after previous: Int64) -> LostRows? {
        shown.meet(LogRow(first: positions.lowerBound, last: positions.upperBound, previous: previous, data: []))
    }

    @Test mutating func `nothing is lost where each position that was shown is in a row`() {
        for position in [10, 30, 45] as [Int64] { shown.note(position) }
        // A condensed row spans the second.
        #expect(meet(10, 20, 40, 45, 60) == [])
        // The log is read from its start again, where rows were deleted.
        #expect(meet(after: 30, 40, 45, 60) == [])
        #expect(meet(after: 50, 60, 70) == [])
    }

    @Test(arguments: [[25], [15, 25], [10, 15, 25]] as [[Int64]])
    mutating func `a position that was shown and that no row holds is lost`(_ positions: [Int64]) {
        for position in positions { shown.note(position) }
        #expect(meet(10, 20) == [])
        #expect(meet(100...110, after: 20) == LostRows(after: 20, through: 25))
    }

    @Test mutating func `rows that were met and are not there any more are lost`() {
        shown.note(30)
        #expect(meet(10, 20, 30, 40) == [])
        #expect(meet(100...110, after: 20) == LostRows(after: 20, through: 30))
    }

    @Test mutating func `rows that nobody was shown are not lost`() {
        shown.note(20)
        #expect(meet(10, 20, 30, 40) == [])
        #expect(meet(100...110, after: 20) == nil)
    }

    @Test mutating func `what was shown before a loss tells of it, though the next owner has shown more`() {
        for position in [10, 25, 110, 120] as [Int64] { shown.note(position) }
        #expect(meet(10, 20) == [])
        #expect(meet(100...110, after: 20) == LostRows(after: 20, through: 25))
        #expect(meet(after: 110, 120, 130) == [])
    }

    @Test mutating func `a loss is told once, and the next one again`() {
        shown.note(25)
        #expect(meet(10, 20) == [])
        #expect(meet(100...110, after: 20) != nil)
        // The owner has not noticed it yet, and the log is read from its start again.
        shown.note(25)
        #expect(meet(10, 20) == [])
        #expect(meet(100...110, after: 20) == nil)
        shown.note(115)
        #expect(meet(200...210, after: 110) == LostRows(after: 110, through: 115))
    }

    @Test mutating func `of very many positions the newest are kept`() {
        for position in 1...10_000 as ClosedRange<Int64> { shown.note(2 * position) }
        #expect(meet(30_000...30_010, after: 19_999) == LostRows(after: 19_999, through: 20_000))
    }
}
