import Testing
import TimerCore

@testable import Webhooks

/// The table, written out a second time: rows by event, columns pending, in flight, waiting, delivered, dead, stopped.
private let contract: [(event: DeliveryEvent, cells: [String])] = [
    (.started, ["inFlight", "-", "inFlight", "-", "-", "-"]),
    (.answered(status: 200, retryAfterMs: nil), ["-", "delivered", "-", "-", "-", "-"]),
    (.answered(status: 410, retryAfterMs: nil), ["-", "stopped", "-", "-", "-", "-"]),
    (.answered(status: 500, retryAfterMs: nil), ["-", "waiting", "-", "-", "-", "-"]),
    (.failed(.timedOut), ["-", "waiting", "-", "-", "-", "-"]),
    (.redriven, ["-", "-", "-", "-", "pending", "-"]),
    (.overflowed, ["dead", "-", "dead", "-", "-", "-"]),
    (.dropped, ["gone", "gone", "gone", "gone", "gone", "gone"]),
]

struct DeliveryCell: Sendable, CustomTestStringConvertible {
    var event: DeliveryEvent
    var state: DeliveryState
    var text: String

    static let all = contract.flatMap { row in
        zip(DeliveryState.allCases, row.cells).map { DeliveryCell(event: row.event, state: $0, text: $1) }
    }

    var testDescription: String { "\(event) in \(state)" }
}

private let policy = RetryPolicy(maxAttempts: 3, initialMs: 100, multiplier: 2, maxMs: 1000, jitter: 0)

struct DeliveryMachineTests {
    @Test func `every event has its row`() {
        #expect(Set(contract.map(\.event.kind)) == Set(DeliveryEvent.Kind.allCases))
        #expect(Set(DeliveryState.allCases.map(\.name)).count == DeliveryState.allCases.count)
        #expect(DeliveryState.allCases.filter(\.isOpen) == [.pending, .inFlight, .waiting])
        #expect(DeadReason.allCases.map(\.name) == ["attempts", "backlog"])
    }

    @Test(arguments: DeliveryCell.all)
    func `an event leads where the table says`(cell: DeliveryCell) {
        var machine = DeliveryMachine(state: cell.state, attempts: 1)
        let before = machine
        let step = machine.apply(cell.event, policy: policy, draw: 0)
        switch cell.text {
        case "-":
            #expect(step == nil)
            #expect(machine == before)
        case "gone": #expect(step == .forgotten)
        default:
            #expect(step != nil && step != .forgotten)
            #expect(machine.state.name == cell.text)
        }
    }

    @Test func `a delivery fails, waits and arrives`() {
        var machine = DeliveryMachine()
        #expect(machine.apply(.started, policy: policy, draw: 0) == .started(attempt: 1))
        #expect(machine.apply(.failed(.unreachable), policy: policy, draw: 0) == .ended(.retry(afterMs: 100)))
        #expect(machine.apply(.started, policy: policy, draw: 0) == .started(attempt: 2))
        let answer = DeliveryEvent.answered(status: 404, retryAfterMs: 5)
        #expect(machine.apply(answer, policy: policy, draw: 0) == .ended(.retry(afterMs: 200)))
        #expect(machine.apply(.started, policy: policy, draw: 0) == .started(attempt: 3))
        #expect(machine.apply(.answered(status: 204, retryAfterMs: 5), policy: policy, draw: 0) == .ended(.delivered))
        #expect(machine == DeliveryMachine(state: .delivered, attempts: 3))
    }

    @Test func `a dead letter that is redriven has all its attempts again`() {
        var machine = DeliveryMachine(state: .inFlight, attempts: 3)
        #expect(machine.apply(.failed(.unresolved), policy: policy, draw: 0) == .ended(.dead(.attempts)))
        #expect(machine.apply(.redriven, policy: policy, draw: 0) == .requeued)
        #expect(machine == DeliveryMachine())
        #expect(machine.apply(.started, policy: policy, draw: 0) == .started(attempt: 1))
    }

    @Test func `what is pushed out of the backlog says so`() {
        for state in [DeliveryState.pending, .waiting] {
            var machine = DeliveryMachine(state: state, attempts: 2)
            #expect(machine.apply(.overflowed, policy: policy, draw: 0) == .ended(.dead(.backlog)))
            #expect(machine.state == .dead)
        }
    }

    @Test func `fewer attempts by a changed policy end a delivery at its next failure`() {
        var machine = DeliveryMachine(state: .inFlight, attempts: 7)
        #expect(machine.apply(.failed(.refused), policy: policy, draw: 0) == .ended(.dead(.attempts)))
    }
}

struct AttemptOutcomeTests {
    private func outcome(_ status: Int, retryAfterMs: Int64? = nil, attempt: Int = 1) -> AttemptOutcome {
        DeliveryMachine.outcome(
            of: .answered(status: status, retryAfterMs: retryAfterMs), attempt: attempt, policy: policy, draw: 0)
    }

    @Test(arguments: [200, 201, 202, 204, 299])
    func `2xx delivers, in the last attempt too`(status: Int) {
        #expect(outcome(status, retryAfterMs: 500) == .delivered)
        #expect(outcome(status, attempt: 3) == .delivered)
    }

    @Test func `410 stops, in the last attempt too`() {
        #expect(outcome(410, retryAfterMs: 500) == .stop)
        #expect(outcome(410, attempt: 3) == .stop)
    }

    @Test(arguments: [429, 503])
    func `429 and 503 say when`(status: Int) {
        #expect(outcome(status, retryAfterMs: 300) == .retry(afterMs: 300))
        #expect(outcome(status, retryAfterMs: 0) == .retry(afterMs: 100))
        #expect(outcome(status, retryAfterMs: 86_400_000) == .retry(afterMs: 1000))
        #expect(outcome(status, attempt: 2) == .retry(afterMs: 200))
        #expect(outcome(status, retryAfterMs: 300, attempt: 3) == .dead(.attempts))
    }

    @Test(arguments: [
        0, 100, 103, 199, 300, 301, 302, 304, 307, 308, 400, 401, 404, 408, 409, 411, 428, 430, 500, 502, 504, 599, 999,
        -1,
    ])
    func `anything else is tried again until attempts are out`(status: Int) {
        #expect(outcome(status, retryAfterMs: 300) == .retry(afterMs: 100))
        #expect(outcome(status, attempt: 2) == .retry(afterMs: 200))
        #expect(outcome(status, attempt: 3) == .dead(.attempts))
    }

    @Test(arguments: DeliveryFailure.allCases)
    func `no answer is tried again until attempts are out`(failure: DeliveryFailure) {
        #expect(
            DeliveryMachine.outcome(of: .failed(failure), attempt: 2, policy: policy, draw: 0) == .retry(afterMs: 200))
        #expect(DeliveryMachine.outcome(of: .failed(failure), attempt: 3, policy: policy, draw: 0) == .dead(.attempts))
    }

    @Test func `draws are stable and evenly spread`() {
        // The same in another implementation, so that a restart and a new version keep a delivery's waits.
        #expect(DeliveryMachine.draw(id: "dlv_1", attempt: 1) == 0xA7D011961DCB3D3A)
        var tenths = Array(repeating: 0, count: 10)
        for delivery in 0..<1000 {
            for attempt in 1...10 {
                let draw = DeliveryMachine.draw(id: "dlv_\(delivery)", attempt: attempt)
                tenths[Int(((draw >> 11) * 10) >> 53)] += 1
            }
        }
        #expect(tenths.allSatisfy { (850...1150).contains($0) })
    }
}
