import Testing
import TimerAPI

@testable import TimerdCommand

struct AuditQueueTests {
    private static let cost = AuditRecord.sample("c0").cost

    /// A queue with room for that many records of these tests.
    private func queue(of count: Int) -> AuditQueue { AuditQueue(mostBytes: count * Self.cost) }

    /// The ids of the requests of the oldest records, which are removed, and the number of dropped records.
    private func take(_ most: Int = .max, from queue: inout AuditQueue) -> (ids: [String], dropped: Int) {
        let (records, dropped) = queue.take(most)
        return (records.map { $0.line(dropped: 0).requestID }, dropped)
    }

    @Test func `records are taken in their order, so many at once`() {
        var queue = queue(of: 5)
        for number in 0..<5 { queue.append(.sample("c\(number)")) }
        let first = take(2, from: &queue)
        #expect(first.ids == ["c0", "c1"])
        #expect(queue.count == 3)
        queue.append(.sample("c5"))
        let rest = take(from: &queue)
        #expect(rest.ids == ["c2", "c3", "c4", "c5"])
        #expect(rest.dropped == 0)
        let none = take(from: &queue)
        #expect(none.ids == [])
    }

    @Test(arguments: [
        // Refusals fill half of the room at most.
        (6, "r0 r1 r2 r3 r4 c0 c1 c2", "r0 r1 r2 c0 c1 c2", 2),
        // A change that finds no room has every waiting refusal dropped.
        (6, "r0 c0 r1 c1 r2 c2 c3 c4", "c0 c1 c2 c3 c4", 3),
        // A change is dropped where only changes wait.
        (2, "c0 c1 c2 c3 r0", "c0 c1", 3),
        (1, "r0 c0", "c0", 1),
    ])
    func `refusals are dropped first, and counted`(room: Int, noted: String, kept: String, dropped: Int) {
        var queue = queue(of: room)
        for id in noted.split(separator: " ") { queue.append(.sample(String(id), isRefusal: id.hasPrefix("r"))) }
        #expect(queue.droppedInAll == dropped)
        let rest = take(from: &queue)
        #expect(rest.ids.joined(separator: " ") == kept)
        #expect(rest.dropped == dropped)
    }

    @Test func `the number of dropped records is returned once, with the next record that is taken`() {
        var queue = queue(of: 1)
        for id in ["c0", "c1"] { queue.append(.sample(id)) }
        let first = take(from: &queue)
        #expect(first.dropped == 1)
        let none = take(from: &queue)
        #expect(none.dropped == 0)
        for id in ["c2", "c3"] { queue.append(.sample(id)) }
        let second = take(from: &queue)
        #expect(second.dropped == 1)
        #expect(queue.droppedInAll == 2)
    }

    @Test func `room that was taken is given back`() {
        var queue = queue(of: 4)
        for _ in 0..<100 {
            for id in ["r0", "r1", "c0", "c1"] { queue.append(.sample(id, isRefusal: id.hasPrefix("r"))) }
            let rest = take(from: &queue)
            #expect(rest.ids == ["r0", "r1", "c0", "c1"])
            #expect(rest.dropped == 0)
        }
    }
}
