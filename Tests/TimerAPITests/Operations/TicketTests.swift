import Testing

@testable import TimerAPI

struct TicketTests {
    @Test func `an answer rests on everything from its lowest record to its highest`() {
        var rests: ClosedRange<Int64> = 0...0
        let steps: [(Int64, ClosedRange<Int64>)] = [
            (0, 0...0), (5, 5...5), (7, 5...7), (6, 5...7), (3, 3...7), (0, 3...7),
        ]
        for (position, expected) in steps {
            rests = Ticket.widened(rests, to: position)
            #expect(rests == expected)
        }
    }
}
