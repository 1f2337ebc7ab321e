import Testing
import TimerCluster
import TimerLog

struct HandOverTests {
    private static let failure = StoreError(.unavailable, "a failure that was asked for")
    private static let url = "http://c"
    private static let session: Int64 = 17

    /// A node that owns a log with an end at 100 and serves it, and knows another node, which has read up to `followed`.
    private func owner(followed: Int64? = 90) -> MembershipBench {
        var bench = MembershipBench()
        bench.settleAll()
        bench.end = 100
        bench.others = [MembershipBench.node(Self.session, Self.url, followed: followed)]
        bench.sleep()
        bench.settle()
        bench.steps = []
        return bench
    }

    /// Makes the next beats, also those of the other nodes.
    private func beat(_ bench: inout MembershipBench) {
        for index in bench.others.indices { bench.others[index].beat += 1 }
        bench.sleep()
        bench.settle()
    }

    /// Hands the log of `bench` over up to the step `release`.
    private func release(_ bench: inout MembershipBench) throws {
        bench.sort(bench.membership.handOver(to: nil, patience: 7_000_000_000, at: bench.now))
        bench.others[0].memory = .through(100)
        bench.settle()
        beat(&bench)
        try #require(bench.steps.contains { if case .release = $0 { true } else { false } })
        bench.steps = []
    }

    private func released(_ bench: inout MembershipBench, claimed: Int64? = 120) {
        bench.sort(bench.membership.released(claimed, at: bench.now))
    }

    private func give(_ bench: MembershipBench) -> DirectoryCall? {
        bench.calls.first { if case .give = $0.request { true } else { false } }
    }

    @Test func `the log is given once the other node has read what it held, and the host has ended it`() throws {
        var bench = owner()
        bench.sort(bench.membership.handOver(to: nil, patience: 7_000_000_000, at: bench.now))
        #expect(bench.membership.isHandingOver)
        bench.settle()
        #expect(bench.isLeaving && !bench.steps.contains { if case .release = $0 { true } else { false } })
        // Rows that come meanwhile need not be read before.
        bench.end = 130
        bench.others[0].memory = .through(99)
        let before = bench.now.boottime
        beat(&bench)
        #expect(bench.now.boottime - before == bench.timing.handOverInterval)
        #expect(!bench.steps.contains { if case .release = $0 { true } else { false } })
        bench.others[0].memory = .through(100)
        beat(&bench)
        #expect(bench.steps.contains { if case .release = $0 { true } else { false } } && bench.calls.isEmpty)
        let epoch = bench.owner.epoch
        released(&bench)
        let call = try #require(give(bench))
        let order = TakeOrder(epoch: epoch, from: bench.membership.session, session: Self.session, clock: 120)
        #expect(call.request == .give(order) && !bench.membership.clusterState.isServing)
        bench.answerAsAsked(call)
        #expect(bench.steps.contains(.handOverEnded(.handedOver(to: Self.url))))
        #expect(bench.reports(.handedOver(to: Self.url)))
        #expect(bench.membership.clusterState.ownerURL == Self.url && !bench.membership.isHandingOver)
        bench.sleep()
        bench.settle()
        #expect(!bench.isLeaving && bench.todo.isEmpty && bench.calls.isEmpty)
    }

    @Test func `nothing is ended before every other node has seen that the owner is leaving`() {
        var bench = owner(followed: 100)
        bench.others.append(MembershipBench.node(23, "http://e"))
        bench.sort(bench.membership.handOver(to: nil, patience: 7_000_000_000, at: bench.now))
        bench.settle()
        for index in [0, 1] {
            #expect(!bench.steps.contains { if case .release = $0 { true } else { false } })
            bench.others[index].beat += 1
            bench.sleep()
            bench.settle()
        }
        #expect(bench.steps.contains { if case .release = $0 { true } else { false } })
    }

    @Test func `of several nodes the one that has read most is chosen, or the one that is named`() throws {
        for (url, session) in [(nil, 21), ("http://d", 21), (Self.url, 17)] as [(String?, Int64)] {
            var bench = owner(followed: 100)
            bench.others += [
                MembershipBench.node(21, "http://d", followed: 110), MembershipBench.node(23, "http://e"),
            ]
            bench.sleep()
            bench.settle()
            bench.sort(bench.membership.handOver(to: url, patience: 7_000_000_000, at: bench.now))
            bench.settle()
            beat(&bench)
            released(&bench)
            guard case .give(let order)? = give(bench)?.request else {
                Issue.record("nothing is given to \(url ?? "any")")
                continue
            }
            #expect(order.session == session)
        }
    }

    @Test func `a node is refused that has not read the log, is leaving, or is not there`() {
        var bench = owner(followed: nil)
        func outcome(_ url: String? = nil) -> HandOverOutcome? {
            for case .handOverEnded(let outcome) in bench.membership.handOver(
                to: url, patience: 7_000_000_000, at: bench.now)
            {
                return outcome
            }
            return nil
        }
        #expect(outcome() == .refused(.nobodyFit) && outcome(Self.url) == .refused(.nobodyFit))
        #expect(outcome("http://nowhere") == .refused(.unknownServer))
        #expect(outcome("http://b") == .refused(.isOwner))
        bench.others[0].memory = .through(90)
        bench.others[0].isLeaving = true
        bench.sleep()
        bench.settle()
        #expect(outcome() == .refused(.nobodyFit))
        bench.others[0].isLeaving = false
        bench.sleep()
        bench.settle()
        #expect(outcome() == nil && outcome() == .refused(.underWay))
        bench = MembershipBench()
        #expect(outcome() == .refused(.notOwner))
    }

    @Test func `a node that does not read on in five seconds gets nothing, and the log is served on`() {
        var bench = owner()
        let began = bench.now.boottime
        bench.sort(bench.membership.handOver(to: nil, patience: 7_000_000_000, at: bench.now))
        bench.settle()
        while bench.membership.isHandingOver { beat(&bench) }
        #expect(bench.now.boottime - began == bench.timing.handOver)
        #expect(
            bench.steps.contains(.handOverEnded(.refused(.tooFarBehind)))
                && !bench.steps.contains { if case .release = $0 { true } else { false } })
        #expect(bench.membership.clusterState.isServing)
    }

    @Test(arguments: [false, true])
    func `five seconds are the limit also while the directory does not answer`(isKnown: Bool) throws {
        var bench = owner()
        bench.sort(bench.membership.handOver(to: nil, patience: 7_000_000_000, at: bench.now))
        if isKnown { bench.answer(try #require(bench.beat), .failed(Self.failure)) }
        bench.pass(milliseconds: 4999)
        bench.wake()
        #expect(bench.membership.isHandingOver)
        bench.pass(milliseconds: 1)
        bench.wake()
        #expect(bench.steps.contains(.handOverEnded(.refused(isKnown ? .unreachable : .tooFarBehind))))
    }

    @Test func `a node that goes while it reads gets nothing`() {
        var bench = owner()
        bench.sort(bench.membership.handOver(to: nil, patience: 7_000_000_000, at: bench.now))
        bench.others = []
        bench.settle()
        #expect(bench.steps.contains(.handOverEnded(.refused(.nobodyFit))) && bench.membership.clusterState.isServing)
    }

    @Test func `what is left of the patience is for the host`() throws {
        var bench = owner()
        bench.sort(bench.membership.handOver(to: nil, patience: 100_000_000, at: bench.now))
        let began = bench.now.boottime
        bench.settle()
        bench.others[0].memory = .through(100)
        beat(&bench)
        let left = 100_000_000 - (bench.now.boottime - began)
        #expect(bench.steps.contains(.release(patience: left)) && left < 100_000_000)
        bench = owner()
        bench.sort(bench.membership.handOver(to: nil, patience: 0, at: bench.now))
        bench.wake()
        #expect(bench.steps.contains(.handOverEnded(.refused(.tooFarBehind))))
    }

    @Test(arguments: [nil, url]) func `a node that begins to leave gets nothing, another may`(named: String?) throws {
        for isReleasing in [false, true] {
            var bench = owner(followed: 100)
            bench.others.append(MembershipBench.node(23, "http://e", followed: 95))
            bench.sleep()
            bench.settle()
            bench.sort(bench.membership.handOver(to: named, patience: 7_000_000_000, at: bench.now))
            bench.settle()
            if isReleasing { beat(&bench) }
            bench.others[0].isLeaving = true
            bench.others[1].memory = .through(100)
            beat(&bench)
            beat(&bench)
            if isReleasing || named == nil { released(&bench) }
            if case .give(let order)? = give(bench)?.request {
                #expect(order.session == 23 && named == nil)
            } else {
                #expect(named != nil && !bench.membership.isHandingOver)
            }
        }
    }

    @Test func `a give without an answer is repeated, and after three the log is taken once more`() throws {
        var bench = owner()
        try release(&bench)
        released(&bench)
        let first = try #require(give(bench))
        for _ in 0..<3 { bench.answer(try #require(give(bench)), .failed(Self.failure)) }
        #expect(give(bench) == nil && bench.reports(.handOverFailed))
        #expect(bench.steps.contains(.handOverEnded(.failed)))
        // Only a view that was asked for afterwards shows the owner.
        #expect(bench.takes.isEmpty)
        bench.sleep()
        bench.settle()
        let order = try #require(bench.takes.first)
        guard case .give(let given) = first.request else { return }
        #expect(order.epoch == given.epoch && order.from == order.session)
        bench.settleAll()
        #expect(bench.membership.clusterState.isServing)
    }

    @Test func `a give that had its effect without an answer is not taken back`() throws {
        var bench = owner()
        try release(&bench)
        released(&bench)
        bench.answer(try #require(give(bench)), .failed(Self.failure))
        bench.owner = LogOwner(epoch: bench.owner.epoch + 1, session: Self.session)
        bench.answer(try #require(give(bench)), .take(.refused))
        bench.sleep()
        bench.settleAll()
        #expect(bench.membership.clusterState.ownerURL == Self.url && !bench.membership.clusterState.isServing)
        #expect(bench.takes.isEmpty && bench.todo.isEmpty)
    }

    @Test func `a log that is lost while it is ended is not given`() throws {
        var bench = owner()
        try release(&bench)
        bench.sort(bench.membership.fenced(at: bench.now))
        // The host ends the log already.
        #expect(bench.todo.isEmpty)
        bench.owner = LogOwner(epoch: bench.owner.epoch + 1, session: Self.session)
        released(&bench)
        bench.settle()
        #expect(give(bench) == nil && bench.steps.contains(.handOverEnded(.failed)))
    }

    @Test func `no session is joined before the host has ended the log of the last one`() throws {
        var bench = owner()
        try release(&bench)
        bench.sleep()
        bench.answer(try #require(bench.beat), .view(bench.view(isLive: false)))
        #expect(bench.steps.contains(.handOverEnded(.failed)) && bench.todo.isEmpty && bench.calls.isEmpty)
        released(&bench)
        #expect(bench.calls.contains { if case .join = $0.request { true } else { false } } && give(bench) == nil)
    }

    @Test func `other nodes beat faster while the owner is leaving, and not for ever`() {
        var bench = MembershipBench()
        bench.owner = LogOwner(epoch: 5, session: Self.session)
        bench.others = [MembershipBench.node(Self.session, Self.url)]
        bench.settleAll()
        bench.others[0].isLeaving = true
        bench.sleep()
        bench.settle()
        let began = bench.now.boottime
        bench.sleep()
        #expect(bench.now.boottime - began == bench.timing.handOverInterval)
        while bench.now.boottime - began < 3 * bench.timing.handOver {
            bench.others[0].beat += 1
            bench.settle()
            bench.sleep()
        }
        bench.settle()
        let before = bench.now.boottime
        bench.sleep()
        #expect(bench.now.boottime - before == bench.timing.beatInterval)
    }
}

struct StandbyLagTests {
    @Test func `a standby lags from the first view that shows what it has not read`() throws {
        var bench = MembershipBench()
        bench.settleAll()
        bench.others = [MembershipBench.node(17, "http://c", followed: 90)]
        func behind(_ end: Int64, _ followed: Int64?) -> Int64? {
            bench.end = end
            bench.others[0].memory = followed.map { .through($0) } ?? .cold
            bench.others[0].beat += 1
            bench.sleep()
            bench.settle()
            return bench.membership.clusterState.behind[17]
        }
        #expect(behind(90, 90) == nil)
        let since = try #require(behind(100, 90))
        #expect(since == bench.now.boottime)
        #expect(behind(110, 99) == since)
        // The standby has read what it lacked then, and lacks what came since.
        #expect(behind(120, 105) == bench.now.boottime)
        #expect(behind(120, 120) == nil)
        #expect(behind(130, nil) == nil)
        #expect(behind(130, 120) != nil)
        bench.others = []
        bench.sleep()
        bench.settle()
        #expect(bench.membership.clusterState.behind.isEmpty)
    }
}
