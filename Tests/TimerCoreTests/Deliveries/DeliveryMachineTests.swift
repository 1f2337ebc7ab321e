import Testing

@testable import TimerCore

/// The transition table, written out a second time: a row for each event, with the next states from pending, in flight,
/// waiting, delivered, dead and stopped.
private let contract: [(event: DeliveryEvent, cells: [String])] = [
    (.started, ["inFlight", "-", "-", "-", "-", "-"]),
    (.delivered, ["-", "delivered", "-", "-", "-", "-"]),
    (.failed, ["-", "waiting", "-", "-", "-", "-"]),
    (.exhausted, ["-", "dead", "-", "-", "-", "-"]),
    (.refused, ["-", "stopped", "-", "-", "-", "-"]),
    (.postponed, ["-", "waiting", "-", "-", "-", "-"]),
    (.due, ["-", "-", "pending", "-", "-", "-"]),
    (.overflowed, ["dead", "-", "dead", "-", "-", "-"]),
    (.redriven, ["-", "-", "-", "-", "pending", "-"]),
    (.dropped, ["stopped", "stopped", "stopped", "-", "stopped", "-"]),
    (.rejoined, ["inFlight", "-", "inFlight", "-", "-", "-"]),
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

struct DeliveryMachineTests {
    @Test func `every event has its row, every state its name`() {
        #expect(contract.map(\.event) == DeliveryEvent.allCases)
        #expect(Set(DeliveryState.allCases.map(\.name)).count == DeliveryState.allCases.count)
    }

    @Test(arguments: DeliveryCell.all)
    func `an event leads where the table says`(cell: DeliveryCell) {
        #expect(DeliveryMachine.next(cell.event, in: cell.state)?.name ?? "-" == cell.text)
    }

    @Test func `an outcome is one event`() {
        func event(_ type: EventType, _ reason: EventReason = .none) -> DeliveryEvent {
            var outcome = DeliveryOutcome(type, delivery: 1, attempt: 1)
            outcome.reason = reason
            return outcome.event
        }
        #expect(event(.delivered) == .delivered)
        #expect(event(.deliveryFailed) == .failed)
        #expect(event(.deliveryDead, .attempts) == .exhausted)
        #expect(event(.deliveryDead, .status) == .exhausted)
        #expect(event(.deliveryDead, .age) == .exhausted)
        #expect(event(.deliveryDead, .gone) == .refused)
        #expect(event(.deliveryDead, .backlog) == .overflowed)
    }
}
