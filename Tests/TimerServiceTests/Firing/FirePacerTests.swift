import Testing

@testable import TimerService

struct FirePacerTests {
    private static let second: Int64 = 1_000_000_000

    @Test func `the alarm is armed only for what comes earlier`() {
        var pacer = FirePacer()
        let arms = [100, 100, 200, 50].map { pacer.plan($0) }
        #expect(arms == [true, false, false, true])
        pacer.finish(isDone: true, at: 60)
        let armsAnew = pacer.plan(200)
        #expect(armsAnew)
    }

    @Test func `a waking over a second late is a stand-still, however the loop was kept from it`() {
        var pacer = FirePacer()
        #expect(!pacer.wasStalled(until: 100 * Self.second))
        _ = pacer.plan(Self.second)
        #expect(!pacer.wasStalled(until: 2 * Self.second))
        #expect(pacer.wasStalled(until: 2 * Self.second + 1))
        pacer.beat(at: 2 * Self.second)
        #expect(!pacer.wasStalled(until: 3 * Self.second))
    }

    @Test func `an overdue waking stays when all is planned anew`() {
        var pacer = FirePacer()
        _ = pacer.plan(10)
        pacer.replan(at: 20)
        let whileOverdue = pacer.plan(15)
        pacer.replan(at: 5)
        let afterwards = pacer.plan(15)
        #expect(!whileOverdue && afterwards)
    }

    @Test func `a waking counts once, however many steps it takes`() {
        var pacer = FirePacer()
        let steps = [(true, false), (true, false), (true, true), (true, true), (false, true)]
        let counts = steps.map { pacer.step(fired: $0.0, isDone: $0.1) }
        #expect(counts == [true, false, false, true, false])
    }
}
