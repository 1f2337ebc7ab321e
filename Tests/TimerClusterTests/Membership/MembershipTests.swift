import Testing
import TimerCluster
import TimerLog

struct MembershipTests {
    private static let failure = StoreError(.unavailable, "a failure that was asked for")

    /// A node that owns and serves all partitions.
    private func owner(partitions: Int = 4) -> MembershipBench {
        var bench = MembershipBench(partitions: partitions)
        bench.settleAll()
        return bench
    }

    @Test func `the lease lasts two seconds from the sending of a beat, however late the answer`() throws {
        var bench = owner()
        bench.sleep()
        let sent = bench.now.boottime
        let beat = try #require(bench.beat)
        bench.pass(milliseconds: 700)
        bench.answer(beat, .view(bench.view()))
        guard case .beat(let said) = beat.request else { return }
        #expect(
            bench.steps.last == .extendLease(until: sent + MembershipTiming.lease, promised: said.promised))
    }

    @Test func `an answer that comes after the lease it would give gives none`() throws {
        var bench = owner()
        bench.sleep()
        let beat = try #require(bench.beat)
        bench.pass(milliseconds: 2000)
        bench.steps = []
        bench.answer(beat, .view(bench.view()))
        #expect(!bench.steps.contains { if case .extendLease = $0 { true } else { false } })
        #expect(bench.reports(.leaseLost))
        let next = try #require(bench.beat)
        bench.answer(next, .view(bench.view()))
        #expect(bench.reports(.leaseRegained) && bench.membership.standing.servedCount == 4)
    }

    @Test func `beats come every half second, and a failed one is repeated soon`() throws {
        var bench = owner()
        bench.sleep()
        let first = bench.now.boottime
        bench.answerAsAsked(try #require(bench.beat))
        bench.sleep()
        #expect(bench.now.boottime - first == MembershipTiming.beatInterval)
        let second = bench.now.boottime
        bench.answer(try #require(bench.beat), .failed(Self.failure))
        #expect(bench.reports(.unreachable(Self.failure)))
        bench.sleep()
        #expect(bench.now.boottime - second == MembershipTiming.pause && bench.beat != nil)
    }

    @Test func `what a beat promises never falls, and counts once the beat has succeeded`() throws {
        var bench = owner()
        let before = bench.promised
        #expect(before == CalendarPosition.at(realtime: bench.now.realtime + MembershipTiming.promise))
        bench.now.realtime -= 60_000_000_000
        bench.sleep()
        let beat = try #require(bench.beat)
        guard case .beat(let said) = beat.request else { return }
        #expect(said.promised == before)
        bench.now.realtime += 120_000_000_000
        bench.answer(beat, .failed(Self.failure))
        bench.sleep()
        #expect(bench.promised == before)
        bench.answerAsAsked(try #require(bench.beat))
        #expect(bench.promised > before)
    }

    @Test func `a session that was ended is dropped whole before the next one is joined`() throws {
        var bench = owner()
        let session = bench.membership.session
        bench.sleep()
        bench.steps = []
        bench.answer(try #require(bench.beat), .view(bench.view(isLive: false)))
        #expect(bench.steps == [.report(.sessionEnded(session: session)), .revokeLease, .drop([0, 1, 2, 3])])
        #expect(bench.calls.isEmpty && bench.membership.nextWake == .max)
        bench.perform(.drop([0, 1, 2, 3]))
        #expect(bench.calls.count == 1 && bench.membership.session != session)
    }

    @Test func `no session is joined while a partition is being adopted for the one before`() throws {
        var bench = MembershipBench(partitions: 1)
        bench.settle()
        bench.answerAsAsked(try #require(bench.calls.first))
        let adoption = try #require(bench.todo.first)
        bench.sleep()
        bench.answer(try #require(bench.beat), .view(bench.view(isLive: false)))
        #expect(bench.calls.isEmpty)
        bench.perform(adoption)
        #expect(bench.calls.isEmpty && bench.todo == [.drop([0])])
        bench.perform(.drop([0]))
        #expect(bench.calls.count == 1)
    }

    @Test func `one owner takes the first partition first, then the others, sixteen at a time`() throws {
        var bench = MembershipBench(partitions: 64)
        bench.settle()
        #expect(bench.takes.map(\.partition) == [0])
        bench.answerAsAsked(try #require(bench.calls.first))
        #expect(bench.takes.map(\.partition) == Array(1...16))
        bench.answerAsAsked(try #require(bench.calls.first))
        #expect(bench.takes.map(\.partition) == Array(2...17))
        bench.settleAll()
        #expect(bench.membership.standing.servedCount == 64 && bench.membership.standing.takeovers == 64)
        #expect(bench.reports(.took(Array(0..<64))))
    }

    @Test func `a node stands by while another one owns the first partition`() {
        var bench = MembershipBench()
        bench.others = [MembershipBench.node(7, "http://z")]
        bench.owners[0] = PartitionOwner(partition: 0, epoch: 1, session: 7)
        bench.settleAll()
        #expect(bench.takes.isEmpty && bench.reports(.standsBy(owner: "http://z")))
        #expect(bench.membership.standing.ownerURL() == "http://z")
    }

    @Test func `a node whose beat stays the same for two and a half seconds is ended, then replaced`() throws {
        var bench = MembershipBench()
        let silent = MembershipBench.node(7, "http://a", beat: 5)
        bench.others = [silent]
        bench.owners = bench.owners.map { PartitionOwner(partition: $0.partition, epoch: 1, session: 7) }
        bench.settle()
        let start = bench.now.boottime
        while !bench.calls.contains(where: { $0.request == .end(silent) }) {
            bench.sleep()
            bench.answerAsAsked(try #require(bench.beat))
        }
        #expect(bench.now.boottime - start == MembershipTiming.silence)
        #expect(bench.takes.isEmpty)
        bench.others = []
        bench.settleAll()
        #expect(bench.reports(.ended(silent)) && bench.membership.standing.servedCount == 4)
    }

    @Test func `a node without a valid lease takes nothing`() throws {
        var bench = MembershipBench()
        bench.wake()
        bench.answerAsAsked(try #require(bench.calls.first))
        let beat = try #require(bench.beat)
        bench.pass(milliseconds: 2000)
        bench.answer(beat, .view(bench.view()))
        let read = try #require(bench.calls.first { $0.request == .readOwners })
        bench.answerAsAsked(read)
        #expect(bench.takes.isEmpty)
        bench.settle()
        #expect(bench.takes.map(\.partition) == [0])
    }

    @Test func `a node is watched from when it was first seen`() throws {
        var bench = MembershipBench()
        bench.settle()
        bench.sleep()
        let silent = MembershipBench.node(7, "http://a", beat: 1)
        bench.others = [silent]
        bench.settle()
        let start = bench.now.boottime
        while !bench.calls.contains(where: { $0.request == .end(silent) }) {
            bench.sleep()
            bench.answerAsAsked(try #require(bench.beat))
        }
        #expect(bench.now.boottime - start == MembershipTiming.silence)
    }

    @Test func `a beat that goes on, or time without an answer, ends nobody`() throws {
        var bench = MembershipBench()
        bench.others = [MembershipBench.node(7, "http://a", beat: 5)]
        bench.settle()
        for _ in 0..<10 {
            bench.others[0].beat += 1
            bench.pass(milliseconds: 2400)
            bench.settle()
        }
        bench.pass(milliseconds: 60_000)
        bench.wake()
        let late = try #require(bench.beat)
        bench.answer(late, .view(bench.view()))
        #expect(
            !bench.reports(.ended(bench.others[0])) && !bench.calls.contains { $0.request == .end(bench.others[0]) })
    }

    @Test func `a take that is blocked ends the old session's connections once, then is repeated`() throws {
        var bench = MembershipBench()
        bench.settle()
        bench.answerAsAsked(try #require(bench.calls.first))
        let waiting = bench.calls
        for call in waiting { bench.answer(call, .take(.blocked)) }
        #expect(bench.calls.map(\.request) == [.endConnections(of: 0)])
        bench.answer(bench.calls[0], .count(2))
        #expect(bench.takes.map(\.partition) == [1, 2, 3])
        #expect(bench.reports(.connectionsEnded(session: 0, count: 2)))
    }

    @Test func `a take of unknown outcome is made again if it turns out to be done`() throws {
        var bench = MembershipBench(partitions: 1)
        bench.settle()
        let session = bench.membership.session
        bench.owners[0] = PartitionOwner(partition: 0, epoch: 1, session: session)
        bench.answer(try #require(bench.calls.first), .failed(Self.failure))
        #expect(bench.calls.isEmpty)
        bench.sleep()
        bench.settle()
        #expect(bench.takes.map(\.epoch) == [1] && bench.takes.map(\.from) == [session])
        bench.settleAll()
        #expect(bench.membership.standing.servedCount == 1 && bench.owners[0].epoch == 2)
    }

    @Test func `a take that the map shows before its answer comes counts once`() throws {
        var bench = MembershipBench(partitions: 3)
        bench.settle()
        bench.answerAsAsked(try #require(bench.calls.first))
        let (failing, answered) = (bench.calls[0], bench.calls[1])
        let session = bench.membership.session
        for partition in 1...2 {
            bench.owners[partition] = PartitionOwner(partition: partition, epoch: 1, session: session)
        }
        bench.answer(failing, .failed(Self.failure))
        bench.sleep()
        bench.settle()
        #expect(bench.takes.map(\.partition) == [2, 1])
        bench.answer(answered, .take(.taken(Barrier(epoch: 1, previous: 0, position: 1))))
        bench.settleAll()
        #expect(bench.owners.map(\.epoch) == [1, 2, 1])
        #expect(bench.membership.standing.servedCount == 3 && bench.membership.standing.takeovers == 3)
    }

    @Test func `a partition that can't be adopted is tried again after a second`() throws {
        var bench = MembershipBench(partitions: 1)
        bench.settle()
        bench.answerAsAsked(try #require(bench.calls.first))
        let adoption = try #require(bench.todo.first)
        let failedAt = bench.now.boottime
        bench.perform(adoption, Self.failure)
        #expect(bench.reports(.adoptionFailed(0, Self.failure)) && bench.todo.isEmpty)
        while bench.todo.isEmpty {
            bench.sleep()
            bench.settle()
        }
        #expect(bench.now.boottime - failedAt == MembershipTiming.adoptionPause)
        bench.settleAll()
        #expect(bench.membership.standing.servedCount == 1)
    }

    @Test func `a fenced partition is dropped, and the session given up where it still owns it`() throws {
        var bench = owner()
        bench.sort(bench.membership.fenced(2, at: bench.now))
        #expect(bench.reports(.fenced([2])) && bench.todo == [.drop([2])])
        #expect(bench.membership.standing.fenced == 1 && bench.membership.standing.servedCount == 3)
        let session = bench.membership.session
        bench.steps = bench.todo
        let read = try #require(bench.calls.first { $0.request == .readOwners })
        bench.answer(read, .owners(bench.owners))
        #expect(bench.steps.contains(.revokeLease) && bench.todo.contains(.drop([0, 1, 3])))
        #expect(bench.calls.contains { $0.request == .leave(promised: .max) && $0.session == session })
    }

    @Test func `a node that owns others without the first gives its session up`() throws {
        var bench = owner()
        bench.others = [MembershipBench.node(7, "http://a")]
        bench.owners[0] = PartitionOwner(partition: 0, epoch: 9, session: 7)
        bench.sleep()
        bench.settle()
        #expect(bench.reports(.fenced([0])) && bench.steps.contains(.revokeLease))
        #expect(bench.membership.standing.servedCount == 0)
    }

    @Test func `a node that drains says so and takes nothing, and one that leaves ends its session`() throws {
        var bench = MembershipBench()
        bench.others = [MembershipBench.node(7, "http://z")]
        bench.owners = bench.owners.map { PartitionOwner(partition: $0.partition, epoch: 1, session: 7) }
        bench.settle()
        bench.sort(bench.membership.drain(at: bench.now))
        guard case .beat(let beat) = try #require(bench.beat).request else { return }
        #expect(beat.isLeaving)
        bench.others = []
        bench.settle()
        #expect(bench.takes.isEmpty)
        bench.sort(bench.membership.leave(at: bench.now))
        #expect(bench.steps.contains(.revokeLease))
        bench.settleAll()
        #expect(bench.membership.hasLeft && bench.membership.nextWake == .max)
    }
}
