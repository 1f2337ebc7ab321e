import Testing
import TimerCluster
import TimerLog

/// What an owner does with partitions that the plan wants elsewhere.
struct GiveTests {
    private static let failure = StoreError(.unavailable, "a failure that was asked for")

    /// An owner of eight partitions, and a second node that has just joined.
    private func pair() -> GiveBench {
        var give = GiveBench()
        give.join(99, "http://a")
        return give
    }

    private func partition(_ message: PeerMessage) -> Int? {
        if case .prepare(let partition, _, _) = message { partition } else { nil }
    }

    @Test func `an owner follows the plan once it has stayed the same for five seconds, four partitions at a time`() {
        var give = pair()
        let planned = give.planned(for: 99)
        #expect(planned.count == 4)
        give.pass(milliseconds: 4900)
        #expect(give.told().isEmpty)
        give.pass(milliseconds: 1200)
        #expect(Set(give.told().compactMap(partition)) == Set(planned) && give.standing.servedCount == 8)
        var many = GiveBench(partitions: 32)
        many.join(99, "http://a")
        many.pass(milliseconds: 7000)
        #expect(Set(many.told().compactMap(partition)).count == MembershipTiming.givesAtOnce)
    }

    @Test func `a plan that changes lets the owner wait anew`() {
        var give = pair()
        give.pass(milliseconds: 4000)
        give.join(98, "http://c")
        give.pass(milliseconds: 4500)
        #expect(give.told().isEmpty)
        give.pass(milliseconds: 1500)
        #expect(!give.told().isEmpty)
    }

    @Test func `nobody is given anything while one node can't be forwarded to`() {
        var give = pair()
        give.bench.others[0].speaks = 0
        give.pass(milliseconds: 20_000)
        #expect(give.told().isEmpty && give.standing.servedCount == 8)
    }

    @Test func `the owner serves until the target has found less than a hundred rows, lately`() throws {
        var give = pair()
        give.pass(milliseconds: 6000)
        let asked = give.told()
        give.answers(Array(asked.suffix(1)), rows: MembershipTiming.rowsBehind, from: 99)
        #expect(give.releases.isEmpty)
        give.answers(Array(asked.suffix(1)), from: 98)
        #expect(give.releases.isEmpty, "another node is not the target")
        give.pass(milliseconds: 1100)
        give.answers(Array(asked.suffix(1)), from: 99)
        #expect(give.releases.isEmpty, "the answer is too old")
        let questions = give.told()
        let question = try #require(questions.last)
        give.answers([question], rows: MembershipTiming.rowsBehind - 1, from: 99)
        #expect(give.releases == [partition(question)] && give.standing.servedCount == 7)
        give.answers([question], from: 99)
        #expect(give.releases.count == 1, "a repeated answer changes nothing")
    }

    @Test func `a released partition is given from what was promised on, and the target is told`() throws {
        var give = pair()
        let given = give.giveOne(to: 99)
        let asked = try #require(given)
        let number = asked.order.partition
        #expect(asked.order.clock == 5000 && asked.order.session == 99 && asked.order.from == give.session)
        _ = give.told()
        give.bench.steps = []
        give.bench.answerAsAsked(asked.call)
        #expect(give.told() == [.given(partition: number, epoch: asked.order.epoch + 1, session: 99)])
        #expect(give.bench.steps.contains(.drop([number])))
        #expect(give.standing.owners[number].session == 99 && give.standing.gives == 1)
        give.pass(milliseconds: 3000)
        #expect(give.bench.takes.isEmpty, "the owner takes nothing back")
    }

    @Test func `a partition whose release failed is taken once more`() throws {
        var give = pair()
        give.pass(milliseconds: 6000)
        give.answers(Array(give.told().suffix(1)), from: 99)
        let number = try #require(give.releases.first)
        give.released(number, promised: nil)
        give.pass(milliseconds: 200)
        #expect(give.gives.isEmpty && give.bench.takes.map(\.partition) == [number])
    }

    @Test func `a give of unknown outcome that was made is left at that`() throws {
        var give = pair()
        let given = give.giveOne(to: 99)
        let asked = try #require(given)
        let number = asked.order.partition
        give.bench.owners[number] = PartitionOwner(
            partition: number, epoch: asked.order.epoch + 1, session: 99)
        give.bench.answer(asked.call, .failed(Self.failure))
        give.pass(milliseconds: 300)
        #expect(give.gives.isEmpty && give.bench.takes.isEmpty && give.bench.steps.contains(.drop([number])))
        #expect(!give.told().contains { if case .given = $0 { true } else { false } })
    }

    @Test func `a give of unknown outcome that was not made is tried again, then the partition is taken back`() throws {
        var give = pair()
        let given = give.giveOne(to: 99, promised: 1 << 61)
        let asked = try #require(given)
        var call = asked.call
        for _ in 1..<MembershipTiming.giveTries {
            give.bench.answer(call, .failed(Self.failure))
            #expect(give.gives.isEmpty && give.bench.takes.isEmpty, "the map is read first")
            give.pass(milliseconds: 300)
            call = try #require(give.gives.first)
            #expect(call.give == asked.order && give.bench.takes.isEmpty)
        }
        give.bench.answer(call, .failed(Self.failure))
        give.pass(milliseconds: 300)
        let take = try #require(give.bench.calls.first { $0.order != nil })
        #expect(take.order?.partition == asked.order.partition && take.order?.epoch == asked.order.epoch)
        #expect(take.order?.clock == 1 << 61, "it begins behind what was promised of it")
        give.bench.answerAsAsked(take)
        #expect(give.bench.steps.contains { if case .adopt = $0 { true } else { false } })
    }

    @Test func `a target that dies leaves the partition where it is`() throws {
        var give = pair()
        give.pass(milliseconds: 6000)
        let asked = give.told()
        give.die(99)
        give.pass(milliseconds: 600)
        #expect(give.told().contains { if case .cancelled = $0 { true } else { false } })
        give.answers(Array(asked.suffix(1)), from: 99)
        #expect(give.releases.isEmpty && give.standing.servedCount == 8)
    }

    @Test func `a target that is never ready is tried again later, and so is one that can't`() throws {
        var give = pair()
        give.pass(milliseconds: 5500 + MembershipTiming.giveTimeout / 1_000_000)
        #expect(give.told().contains { if case .cancelled = $0 { true } else { false } })
        give.pass(milliseconds: 8000)
        #expect(give.told().isEmpty)
        give.pass(milliseconds: 3000)
        let questions = give.told()
        let question = try #require(questions.last)
        guard case .prepare(let partition, let epoch, _) = question else { return }
        give.hears(.cancelled(partition: partition, epoch: epoch), from: 99)
        _ = give.told()
        give.pass(milliseconds: 1000)
        #expect(!give.told().contains { self.partition($0) == partition })
    }

    @Test func `a node that is to stop gives everything at once`() throws {
        var give = GiveBench()
        give.join(99, "http://a")
        give.pass(milliseconds: 1000)
        give.bench.sort(give.bench.membership.drain(at: give.bench.now))
        #expect(give.standing.isGivingAll)
        give.pass(milliseconds: 600)
        for _ in 0..<20 where give.standing.isGivingAll {
            give.answers(give.told(), from: 99)
            for number in give.releases { give.released(number) }
            for call in give.gives { give.bench.answerAsAsked(call) }
            for step in give.bench.todo { give.bench.perform(step) }
            give.pass(milliseconds: 300)
        }
        #expect(give.standing.servedCount == 0 && !give.standing.isGivingAll)
        #expect(give.bench.owners.allSatisfy { $0.session == 99 })
    }

    @Test func `a node that is to stop gives nothing where nobody is left`() {
        var give = GiveBench()
        give.bench.sort(give.bench.membership.drain(at: give.bench.now))
        #expect(!give.standing.isGivingAll)
    }

    @Test func `a node whose calendar is off gives everything, and ends its session if that takes too long`() {
        var give = GiveBench()
        give.join(99, "http://a")
        give.join(98, "http://c")
        for index in give.bench.others.indices { give.bench.others[index].skew = 0 }
        give.bench.skew = 2 * GiveBench.second
        let session = give.session
        give.pass(milliseconds: 2000)
        #expect(!give.told().isEmpty && give.session == session)
        give.pass(milliseconds: MembershipTiming.skewPatience / 1_000_000)
        #expect(give.bench.reports(.sessionGivenUp(session: session, reason: "the clock of this node is off")))
    }

    @Test func `a session that ends forgets what it gave, and waits for the host`() throws {
        var give = pair()
        give.pass(milliseconds: 6000)
        give.answers(Array(give.told().suffix(1)), from: 99)
        let number = try #require(give.releases.first)
        while give.bench.beat == nil { give.bench.sleep() }
        let beat = try #require(give.bench.beat)
        give.bench.answer(beat, .view(give.bench.view(isLive: false)))
        for step in give.bench.todo { give.bench.perform(step) }
        #expect(!give.bench.calls.contains { if case .join = $0.request { true } else { false } })
        give.released(number)
        #expect(give.gives.isEmpty)
        give.bench.wake()
        #expect(give.bench.calls.contains { if case .join = $0.request { true } else { false } })
    }
}
