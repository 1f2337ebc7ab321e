import Testing
import TimerCluster
import TimerLog

struct MembershipTests {
    private static let failure = StoreError(.unavailable, "a failure that was asked for")

    /// A node that owns the log and serves it.
    private func owner() -> MembershipBench {
        var bench = MembershipBench()
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
        #expect(bench.steps.last == .extendLease(until: sent + bench.timing.lease))
    }

    @Test func `a node that can't read what may be written leaves at once`() {
        var bench = MembershipBench()
        bench.format = 3
        bench.settleAll()
        #expect(bench.reports(.formatTooNew(3)) && bench.membership.hasLeft)
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
        #expect(bench.reports(.leaseRegained) && bench.membership.clusterState.isServing)
    }

    @Test func `beats come every half second, and a failed one is repeated soon`() throws {
        var bench = owner()
        bench.sleep()
        let first = bench.now.boottime
        bench.answerAsAsked(try #require(bench.beat))
        bench.sleep()
        #expect(bench.now.boottime - first == bench.timing.beatInterval)
        let second = bench.now.boottime
        bench.answer(try #require(bench.beat), .failed(Self.failure))
        #expect(bench.reports(.unreachable(Self.failure)))
        bench.sleep()
        #expect(bench.now.boottime - second == bench.timing.pause && bench.beat != nil)
    }

    @Test func `what a beat promises lies ahead of the calendar, and never falls`() throws {
        var bench = owner()
        bench.sleep()
        let before = bench.promised
        #expect(before == CalendarPosition.at(realtime: bench.now.realtime + bench.timing.promise))
        bench.answerAsAsked(try #require(bench.beat))
        bench.now.realtime -= 60_000_000_000
        bench.sleep()
        #expect(bench.promised == before)
        bench.answerAsAsked(try #require(bench.beat))
        bench.now.realtime += 120_000_000_000
        bench.sleep()
        #expect(bench.promised > before)
    }

    @Test func `a session that was ended is dropped whole before the next one is joined`() throws {
        var bench = owner()
        let session = bench.membership.session
        bench.sleep()
        bench.steps = []
        bench.answer(try #require(bench.beat), .view(bench.view(isLive: false)))
        #expect(bench.steps == [.report(.sessionEnded(session: session)), .revokeLease, .drop])
        #expect(bench.calls.isEmpty && bench.membership.nextWake == .max)
        #expect(bench.membership.clusterState.nodes.isEmpty && bench.membership.clusterState.ownerURL == nil)
        bench.perform(.drop)
        #expect(bench.calls.count == 1 && bench.membership.session != session)
    }

    @Test func `no session is joined while the log is being adopted for the one before`() throws {
        var bench = MembershipBench()
        bench.settle()
        bench.answerAsAsked(try #require(bench.calls.first))
        let adoption = try #require(bench.todo.first)
        bench.sleep()
        bench.answer(try #require(bench.beat), .view(bench.view(isLive: false)))
        #expect(bench.calls.isEmpty)
        bench.perform(adoption)
        #expect(bench.calls.isEmpty && bench.todo == [.drop])
        bench.perform(.drop)
        #expect(bench.calls.count == 1)
    }

    @Test func `a node takes a log without an owner, then opens it`() throws {
        var bench = MembershipBench()
        bench.settle()
        let session = bench.membership.session
        let clock = CalendarPosition.at(realtime: bench.now.realtime)
        #expect(bench.takes == [TakeOrder(epoch: 0, from: 0, session: session, clock: clock)])
        bench.answerAsAsked(try #require(bench.calls.first))
        #expect(bench.reports(.took) && bench.todo == [.adopt(LogOwner(epoch: 1, session: session))])
        #expect(!bench.membership.clusterState.isServing)
        bench.settleAll()
        #expect(bench.membership.clusterState.isServing && bench.membership.clusterState.takeovers == 1)
        #expect(bench.membership.clusterState.ownerURL == nil)
    }

    @Test func `a node stands by while another one owns the log`() {
        var bench = MembershipBench()
        bench.others = [MembershipBench.node(7, "http://z")]
        bench.owner = LogOwner(epoch: 1, session: 7)
        bench.settleAll()
        #expect(bench.takes.isEmpty && bench.reports(.ownedElsewhere(owner: "http://z")))
        #expect(bench.membership.clusterState.ownerURL == "http://z")
    }

    @Test func `a node that stands by learns once where the log ends and what is shown, an owner does not`() {
        var bench = MembershipBench()
        bench.owner = LogOwner(epoch: 3, session: 5)
        let standby = MembershipBench.node(4, "http://c", followed: 8)
        for (end, followed, steps) in [
            (7, nil, [.read(through: 7, shown: nil)]), (7, nil, []), (9, 7, [.read(through: 9, shown: 7)]),
            (9, 9, [.read(through: 9, shown: 9)]), (9, 9, []),
        ] as [(Int64, Int64?, [MembershipStep])] {
            bench.others = [standby, MembershipBench.node(5, "http://a", followed: followed)]
            (bench.end, bench.steps) = (end, [])
            bench.sleep()
            bench.settle()
            #expect(bench.reads == steps)
        }
        var serving = owner()
        serving.end = 7
        serving.sleep()
        serving.settle()
        #expect(serving.reads == [])
    }

    @Test func `a node stands by while another one is to take the log`() {
        var bench = MembershipBench()
        bench.others = [MembershipBench.node(7, "http://a")]
        bench.settle()
        #expect(bench.takes.isEmpty && bench.membership.clusterState.ownerNode == nil)
    }

    @Test func `a node whose beat stays the same for two and a half seconds is ended, then replaced`() throws {
        var bench = MembershipBench()
        let silent = MembershipBench.node(7, "http://a", beat: 5)
        bench.others = [silent]
        bench.owner = LogOwner(epoch: 1, session: 7)
        bench.settle()
        let start = bench.now.boottime
        while !bench.calls.contains(where: { $0.request == .end(silent) }) {
            bench.sleep()
            bench.answerAsAsked(try #require(bench.beat))
        }
        #expect(bench.now.boottime - start == bench.timing.silence)
        #expect(bench.takes.isEmpty)
        bench.others = []
        bench.settleAll()
        #expect(bench.reports(.ended(silent)) && bench.membership.clusterState.isServing)
    }

    @Test func `a node without a valid lease takes nothing`() throws {
        var bench = MembershipBench()
        bench.wake()
        bench.answerAsAsked(try #require(bench.calls.first))
        let beat = try #require(bench.beat)
        bench.pass(milliseconds: 2000)
        bench.answer(beat, .view(bench.view()))
        #expect(bench.takes.isEmpty)
        bench.settle()
        #expect(bench.takes.count == 1)
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
        #expect(bench.now.boottime - start == bench.timing.silence)
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

    @Test func `a take that is blocked ends the old session's connections, then is repeated`() throws {
        var bench = MembershipBench()
        bench.owner = LogOwner(epoch: 4, session: 7)
        bench.settle()
        let order = try #require(bench.takes.first)
        bench.answer(bench.calls[0], .take(.blocked))
        #expect(bench.calls.map(\.request) == [.endConnections(of: 7)])
        bench.answer(bench.calls[0], .count(2))
        #expect(bench.takes == [order])
        #expect(bench.reports(.connectionsEnded(session: 7, count: 2)))
    }

    @Test func `a take of unknown outcome is made again if it turns out to be done`() throws {
        var bench = MembershipBench()
        bench.settle()
        let session = bench.membership.session
        bench.owner = LogOwner(epoch: 1, session: session)
        bench.answer(try #require(bench.calls.first), .failed(Self.failure))
        #expect(bench.calls.isEmpty)
        bench.sleep()
        bench.settle()
        #expect(bench.takes.map(\.epoch) == [1] && bench.takes.map(\.from) == [session] && bench.todo.isEmpty)
        bench.settleAll()
        #expect(bench.membership.clusterState.isServing && bench.owner.epoch == 2)
    }

    @Test(arguments: [DirectoryAnswer.take(.refused), .failed(Self.failure)])
    func `after a take without success the directory is asked soon, and nothing is taken before it answers`(
        answer: DirectoryAnswer
    ) throws {
        var bench = MembershipBench()
        bench.settle()
        let start = bench.now.boottime
        bench.answer(try #require(bench.calls.first), answer)
        #expect(bench.calls.isEmpty)
        bench.sleep()
        #expect(bench.now.boottime - start == bench.timing.pause && bench.takes.isEmpty)
        bench.answerAsAsked(try #require(bench.beat))
        #expect(bench.takes.count == 1)
    }

    @Test func `what a beat that was sent before a failed take shows explains nothing`() throws {
        var bench = MembershipBench()
        bench.settle()
        bench.sleep()
        let (beat, old) = (try #require(bench.beat), bench.view())
        bench.answer(try #require(bench.calls.first { $0.order != nil }), .failed(Self.failure))
        bench.answer(beat, .view(old))
        #expect(bench.calls.isEmpty)
        let start = bench.now.boottime
        bench.sleep()
        #expect(bench.now.boottime - start == bench.timing.pause)
        bench.answerAsAsked(try #require(bench.beat))
        #expect(bench.takes.count == 1)
    }

    @Test func `a take that a view shows before its answer comes counts once`() throws {
        var bench = MembershipBench()
        bench.settle()
        let take = try #require(bench.calls.first)
        bench.owner = LogOwner(epoch: 1, session: bench.membership.session)
        bench.sleep()
        bench.answerAsAsked(try #require(bench.beat))
        #expect(bench.calls == [take] && bench.todo.isEmpty)
        bench.answer(take, .take(.taken(Barrier(epoch: 1, previous: 0, position: 1))))
        bench.settleAll()
        #expect(bench.owner.epoch == 1)
        #expect(bench.membership.clusterState.isServing && bench.membership.clusterState.takeovers == 1)
    }

    @Test func `a take whose answer comes after a view of a later owner is not adopted`() throws {
        var bench = MembershipBench()
        bench.settle()
        let take = try #require(bench.calls.first)
        bench.others = [MembershipBench.node(7, "http://a")]
        bench.owner = LogOwner(epoch: 2, session: 7)
        bench.sleep()
        bench.answerAsAsked(try #require(bench.beat))
        bench.answer(take, .take(.taken(Barrier(epoch: 1, previous: 0, position: 1))))
        #expect(bench.todo.isEmpty && bench.membership.clusterState.owner == bench.owner)
    }

    @Test func `a view from before a take does not undo it`() throws {
        var bench = MembershipBench()
        bench.settle()
        bench.sleep()
        let (beat, old) = (try #require(bench.beat), bench.view())
        bench.answerAsAsked(try #require(bench.calls.first { $0.order != nil }))
        bench.answer(beat, .view(old))
        #expect(bench.membership.clusterState.owner == bench.owner && bench.takes.isEmpty)
        bench.settleAll()
        #expect(bench.membership.clusterState.isServing && bench.owner.epoch == 1)
    }

    @Test func `an owner whose take the database has lost drops the log before it takes it again and opens it`() throws
    {
        var bench = owner()
        bench.owner = LogOwner(epoch: 0, session: 0)
        bench.sleep()
        bench.answerAsAsked(try #require(bench.beat))
        #expect(bench.reports(.fenced) && bench.todo == [.drop])
        bench.answerAsAsked(try #require(bench.calls.first { $0.order != nil }))
        #expect(bench.todo == [.drop])
        bench.perform(.drop)
        #expect(bench.todo == [.adopt(bench.owner)])
        bench.settleAll()
        #expect(bench.membership.clusterState.isServing && bench.membership.clusterState.fenced == 1)
    }

    @Test func `a log that can't be adopted is tried again after a second`() throws {
        var bench = MembershipBench()
        bench.settle()
        bench.answerAsAsked(try #require(bench.calls.first))
        let adoption = try #require(bench.todo.first)
        let failedAt = bench.now.boottime
        bench.perform(adoption, Self.failure)
        #expect(bench.reports(.adoptionFailed(Self.failure)) && bench.todo.isEmpty)
        while bench.todo.isEmpty {
            bench.sleep()
            bench.settle()
        }
        #expect(bench.now.boottime - failedAt == bench.timing.adoptionPause)
        bench.settleAll()
        #expect(bench.membership.clusterState.isServing)
    }

    @Test func `a log that turns out to be another node's when it is opened is not tried again`() throws {
        var bench = MembershipBench()
        bench.settle()
        bench.answerAsAsked(try #require(bench.calls.first))
        bench.others = [MembershipBench.node(7, "http://z")]
        bench.owner = LogOwner(epoch: 2, session: 7)
        bench.perform(try #require(bench.todo.first), StoreError(.fenced, "another node owns the log"))
        for _ in 0..<4 {
            bench.sleep()
            bench.settle()
        }
        #expect(bench.todo.isEmpty && bench.takes.isEmpty && bench.reports(.ownedElsewhere(owner: "http://z")))
    }

    @Test func `a fenced log is dropped, and the session ended where it still owns it`() throws {
        var bench = owner()
        bench.sort(bench.membership.fenced(at: bench.now))
        #expect(bench.reports(.fenced) && bench.todo == [.drop])
        #expect(bench.membership.clusterState.fenced == 1 && !bench.membership.clusterState.isServing)
        let session = bench.membership.session
        bench.perform(.drop)
        bench.sleep()
        bench.answerAsAsked(try #require(bench.beat))
        #expect(bench.steps.contains(.revokeLease) && bench.todo.isEmpty && bench.takes.isEmpty)
        #expect(bench.calls.contains { $0.request == .leave(promised: .max) && $0.session == session })
    }

    @Test func `a node whose log another one took drops it and stands by in the same session`() throws {
        var bench = owner()
        let session = bench.membership.session
        bench.others = [MembershipBench.node(7, "http://z")]
        bench.owner = LogOwner(epoch: 9, session: 7)
        bench.sort(bench.membership.fenced(at: bench.now))
        bench.sleep()
        bench.settleAll()
        #expect(bench.reports(.fenced) && bench.reports(.ownedElsewhere(owner: "http://z")))
        #expect(bench.membership.session == session && !bench.membership.clusterState.isServing)
        bench.others = []
        bench.sleep()
        bench.settleAll()
        #expect(bench.membership.session == session && bench.membership.clusterState.isServing)
    }

    @Test func `a node that drains says so and takes nothing, and one that leaves ends its session`() throws {
        var bench = MembershipBench()
        bench.others = [MembershipBench.node(7, "http://z")]
        bench.owner = LogOwner(epoch: 1, session: 7)
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
