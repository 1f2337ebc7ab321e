import Testing

@testable import HTTPServer

struct ByteBudgetTests {
    @Test func `one alone may hold all but a sixteenth`() {
        let budget = ByteBudget(1600)
        #expect(budget.take(1500, for: 1))
        #expect(!budget.take(1, for: 1))
        #expect(budget.total == 1500)
    }

    @Test func `a holder of few bytes gets some of the rest, a holder of many gets none`() {
        let budget = ByteBudget(1600)
        #expect(budget.take(1500, for: 1))
        #expect(budget.take(50, for: 2))
        #expect(budget.take(30, for: nil))
        #expect(!budget.take(1, for: 1))
        #expect(budget.total == 1580)
    }

    @Test func `what was given back may be taken again`() {
        let budget = ByteBudget(1600)
        #expect(budget.take(1500, for: 1))
        budget.change(by: -1000, for: 1)
        #expect(budget.take(1000, for: 2))
        budget.change(by: -500, for: 1)
        budget.change(by: -1000, for: 2)
        #expect(budget.total == 0)
        #expect(budget.take(1500, for: 3))
    }

    @Test func `what has to be held is, and counts`() {
        let budget = ByteBudget(100)
        budget.change(by: 200, for: 1)
        #expect(budget.total == 200)
        #expect(!budget.take(1, for: 2))
        budget.change(by: -200, for: 1)
        #expect(budget.take(1, for: 2))
    }

    @Test func `no holder gets more than there is`() {
        #expect(!ByteBudget(100).take(101, for: 1))
    }
}
