import Testing
import TimerService

@testable import TimerAPI

struct ProblemTests {
    @Test func `a run that is refused half-way no longer says that nothing stands`() {
        let refusals = [
            Problem.elsewhere(owner: "http://other:1"), .leaseOver, Problem(.storageUnavailable, timer: []),
            Problem(.shuttingDown, timer: []), Problem(.overloaded, timer: []),
        ]
        for refusal in refusals {
            #expect(refusal.outcome == "none")
            #expect(refusal.detail.contains("nothing was changed") || refusal.kind == .storageUnavailable)
            var cut = refusal
            cut.markPartlyApplied()
            #expect(cut.outcome == "unknown")
            #expect(!cut.detail.contains("nothing"))
            #expect(cut.kind == refusal.kind)
            #expect(cut.owner == refusal.owner)
        }
    }

    @Test func `a refusal that is about the request itself stays what it is`() {
        var problem = Problem(.invalidRequest, "no such field")
        problem.markPartlyApplied()
        #expect(problem.outcome == nil)
        #expect(problem.detail == "no such field")
    }
}
