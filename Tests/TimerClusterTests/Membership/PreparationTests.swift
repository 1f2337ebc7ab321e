import Testing
import TimerCluster
import TimerLog

/// What a node does for an owner that means to give it a partition.
struct PreparationTests {
    private static let failure = StoreError(.unavailable, "a failure that was asked for")

    /// A node that owns nothing, beside one that owns all.
    private func target(partitions: Int = 16) -> GiveBench {
        var give = GiveBench(partitions: partitions)
        give.join(99, "http://a")
        for partition in give.bench.owners.indices {
            give.bench.owners[partition] = PartitionOwner(partition: partition, epoch: 7, session: 99)
        }
        give.pass(milliseconds: 1500)
        while let step = give.bench.todo.first { give.bench.perform(step) }
        give.bench.steps = []
        return give
    }

    private func prepares(_ give: GiveBench) -> [Int] {
        give.bench.steps.compactMap { if case .prepare(let partition) = $0 { partition } else { nil } }
    }

    /// The host has read the log of a partition.
    private func read(_ partition: Int, of give: inout GiveBench, rows: Int = 0, _ error: StoreError? = nil) {
        give.bench.steps.removeAll { $0 == .prepare(partition) }
        give.bench.sort(give.bench.membership.prepared(partition, rows: rows, error, at: give.bench.now))
    }

    @Test func `a log is read when its owner asks, and read on with each further question`() {
        var give = target()
        give.hears(.prepare(partition: 3, epoch: 7, askedAt: 10), from: 99)
        #expect(prepares(give) == [3])
        give.hears(.prepare(partition: 3, epoch: 7, askedAt: 20), from: 99)
        #expect(prepares(give) == [3], "one reading at a time")
        read(3, of: &give, rows: 500)
        #expect(give.told() == [.prepared(partition: 3, epoch: 7, askedAt: 10, rows: 500)])
        #expect(prepares(give).isEmpty)
        give.hears(.prepare(partition: 3, epoch: 7, askedAt: 20), from: 99)
        #expect(prepares(give).isEmpty, "a question that comes twice tells nothing new")
        give.hears(.prepare(partition: 3, epoch: 7, askedAt: 30), from: 99)
        read(3, of: &give, rows: 1)
        #expect(give.told() == [.prepared(partition: 3, epoch: 7, askedAt: 30, rows: 1)])
    }

    @Test func `no more than eight logs are read, and only for their owners`() {
        var give = target()
        for partition in 0..<12 { give.hears(.prepare(partition: partition, epoch: 7, askedAt: 10), from: 99) }
        #expect(prepares(give) == Array(0..<MembershipTiming.preparationsAtOnce))
        var other = target()
        other.hears(.prepare(partition: 1, epoch: 7, askedAt: 10), from: 55)
        other.hears(.prepare(partition: 99, epoch: 7, askedAt: 10), from: 99)
        other.hears(.given(partition: -1, epoch: 70, session: other.session), from: 99)
        #expect(prepares(other).isEmpty)
    }

    @Test func `what nobody asks for any more is thrown away, also while it is read`() {
        var give = target()
        give.hears(.prepare(partition: 3, epoch: 7, askedAt: 10), from: 99)
        read(3, of: &give)
        give.hears(.prepare(partition: 4, epoch: 7, askedAt: 10), from: 99)
        give.pass(milliseconds: MembershipTiming.preparationMemory / 1_000_000 + 600)
        #expect(give.bench.steps.contains(.forget(3)) && give.bench.steps.contains(.forget(4)))
        _ = give.told()
        give.hears(.prepare(partition: 4, epoch: 7, askedAt: 90), from: 99)
        #expect(prepares(give) == [4], "the first reading has not ended")
        read(4, of: &give)
        #expect(give.told().isEmpty)
        give.hears(.prepare(partition: 4, epoch: 7, askedAt: 100), from: 99)
        #expect(prepares(give) == [4])
    }

    @Test func `the giver is told where a log can't be read, and may take its word back`() {
        var give = target()
        give.hears(.prepare(partition: 3, epoch: 7, askedAt: 10), from: 99)
        read(3, of: &give, Self.failure)
        #expect(give.told() == [.cancelled(partition: 3, epoch: 7)] && give.bench.steps.contains(.forget(3)))
        give.hears(.prepare(partition: 5, epoch: 7, askedAt: 10), from: 99)
        read(5, of: &give)
        give.hears(.cancelled(partition: 5, epoch: 6), from: 99)
        #expect(!give.bench.steps.contains(.forget(5)), "it is about an earlier hand-over")
        give.hears(.cancelled(partition: 5, epoch: 7), from: 99)
        #expect(give.bench.steps.contains(.forget(5)))
    }

    @Test func `a given partition is adopted at once, and no take is needed`() {
        var give = target()
        give.hears(.given(partition: 3, epoch: 8, session: give.session), from: 99)
        let owner = PartitionOwner(partition: 3, epoch: 8, session: give.session)
        give.hears(.given(partition: 4, epoch: 8, session: 5), from: 99)
        #expect(give.bench.todo == [.adopt(owner)])
        give.bench.owners[3] = owner
        give.bench.perform(.adopt(owner))
        give.hears(.given(partition: 3, epoch: 8, session: give.session), from: 99)
        give.hears(.given(partition: 3, epoch: 7, session: give.session), from: 99)
        give.pass(milliseconds: 1500)
        #expect(give.bench.todo.isEmpty && give.bench.takes.isEmpty && give.standing.servedCount == 1)
    }

    @Test func `a target that hears nothing learns from the map, and makes sure by a take of its own`() throws {
        var give = target()
        give.bench.owners[3] = PartitionOwner(partition: 3, epoch: 8, session: give.session)
        give.pass(milliseconds: 1500)
        let take = try #require(give.bench.calls.first { $0.order != nil })
        #expect(take.order?.partition == 3 && take.order?.epoch == 8)
        give.hears(.given(partition: 3, epoch: 8, session: give.session), from: 99)
        #expect(give.bench.todo.isEmpty, "the take is under way already")
        give.bench.answerAsAsked(take)
        #expect(give.bench.todo == [.adopt(PartitionOwner(partition: 3, epoch: 9, session: give.session))])
    }
}
