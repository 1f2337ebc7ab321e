import Testing
import TimerLog

@testable import TimerAPI

/// The state machine of a request in parts, with eight partitions.
struct ScatterTests {
    private let layout: PartitionLayout

    init() throws { layout = try #require(PartitionLayout(strided: 8)) }

    private func scatter(
        changes: Bool = true, isRepeatable: Bool = false, home: Int? = nil, _ numbers: [Int] = Array(0..<8)
    ) -> Scatter {
        Scatter(
            PartitionScope(numbers, of: layout), layout, changes: changes, isRepeatable: isRepeatable, home: home)
    }

    /// Even partitions are this server's, odd ones the node 1's.
    private func owner(_ number: Int) -> Scatter.Owner? { number % 2 == 0 ? .itself : .node(1) }

    @Test func `each owner gets a part with its partitions`() {
        var scatter = scatter()
        let parts = scatter.take(owner: owner)
        #expect(
            parts.map(\.scope.numbers) == [[0, 2, 4, 6], [1, 3, 5, 7]] && parts.map(\.owner) == [.itself, .node(1)])
        #expect(scatter.take(owner: owner) == [] && scatter.verdict == .open && !scatter.waits)
        scatter.succeeded(parts[0].number)
        #expect(scatter.verdict == .open)
        scatter.succeeded(parts[1].number)
        #expect(scatter.verdict == .done)
    }

    @Test func `the part with the key comes first, the others once it has succeeded`() throws {
        var scatter = scatter(isRepeatable: true, home: 3)
        let first = scatter.take(owner: owner)
        try #require(first.map(\.scope.numbers) == [[1, 3, 5, 7]])
        #expect(scatter.take(owner: owner) == [] && !scatter.waits)
        scatter.succeeded(first[0].number)
        #expect(scatter.take(owner: owner).map(\.scope.numbers) == [[0, 2, 4, 6]])
    }

    @Test func `a refused part with the key is the answer, and nothing else is sent`() {
        var scatter = scatter(isRepeatable: true, home: 3)
        let first = scatter.take(owner: owner)
        scatter.refused(first[0].number, isUnknown: false)
        #expect(scatter.verdict == .refused(part: first[0].number) && scatter.take(owner: owner) == [])
    }

    @Test func `a part that came to the wrong server is split anew`() throws {
        var scatter = scatter(home: 3)
        let first = scatter.take(owner: owner)
        scatter.returned(first[0].number)
        #expect(scatter.waits && scatter.verdict == .open)
        // Node 2 has taken over 3 and 5: the part without the key waits for that with it.
        let again = scatter.take { [3, 5].contains($0) ? .node(2) : owner($0) }
        try #require(again.map(\.scope.numbers) == [[3, 5]] && again.map(\.isRepeat) == [false])
        scatter.succeeded(again[0].number)
        #expect(scatter.take(owner: owner).map(\.scope.numbers) == [[0, 2, 4, 6], [1, 7]])
    }

    @Test func `partitions without an owner wait, and are given up in the end`() {
        var scatter = scatter()
        let parts = scatter.take { $0 == 5 ? nil : owner($0) }
        #expect(parts.map(\.scope.numbers) == [[0, 2, 4, 6], [1, 3, 7]] && scatter.waits)
        scatter.succeeded(parts[0].number)
        scatter.succeeded(parts[1].number)
        #expect(scatter.verdict == .open)
        scatter.expired()
        #expect(scatter.verdict == .unknown)
        var alone = self.scatter([5])
        #expect(alone.take { _ in nil } == [])
        alone.expired()
        #expect(alone.verdict == .ownerless)
    }

    @Test(arguments: [false, true]) func `a refusal after a change leaves the outcome unknown`(isReversed: Bool) {
        var scatter = scatter()
        let parts = scatter.take(owner: owner)
        if isReversed { scatter.refused(parts[1].number, isUnknown: false) }
        scatter.succeeded(parts[0].number)
        if !isReversed { scatter.refused(parts[1].number, isUnknown: false) }
        #expect(scatter.verdict == .unknown)
    }

    @Test func `refusals of all parts are told by the first, unless changes of one may stand`() {
        for isUnknown in [false, true] {
            var scatter = scatter()
            let parts = scatter.take(owner: owner)
            scatter.refused(parts[1].number, isUnknown: false)
            #expect(scatter.verdict == .open)
            scatter.refused(parts[0].number, isUnknown: isUnknown)
            #expect(scatter.verdict == (isUnknown ? .unknown : .refused(part: parts[1].number)))
        }
    }

    @Test func `a refused part of a read is the answer whatever the others said`() {
        var scatter = scatter(changes: false, isRepeatable: true)
        let parts = scatter.take(owner: owner)
        scatter.succeeded(parts[0].number)
        scatter.refused(parts[1].number, isUnknown: false)
        #expect(scatter.verdict == .refused(part: parts[1].number))
    }

    @Test func `a part whose connection broke is sent again where that does no harm`() {
        // What the server has not looked at, and what has one effect however often it comes.
        for (isRepeatable, isUnseen) in [(false, true), (true, false), (true, true)] {
            var scatter = scatter(isRepeatable: isRepeatable)
            let parts = scatter.take(owner: owner)
            scatter.lost(parts[1].number, isUnseen: isUnseen)
            let again = scatter.take(owner: owner)
            #expect(again.map(\.scope.numbers) == [[1, 3, 5, 7]] && again.map(\.isRepeat) == [!isUnseen])
        }
        var scatter = scatter()
        let parts = scatter.take(owner: owner)
        scatter.lost(parts[1].number, isUnseen: false)
        #expect(scatter.take(owner: owner) == [] && scatter.verdict == .open)
        scatter.refused(parts[0].number, isUnknown: false)
        #expect(scatter.verdict == .unknown)
    }

    @Test func `a repeated part that nobody answers any more may have changed something`() {
        var scatter = scatter(isRepeatable: true, [1])
        let parts = scatter.take(owner: owner)
        scatter.lost(parts[0].number, isUnseen: false)
        scatter.expired()
        #expect(scatter.verdict == .unknown)
    }
}
