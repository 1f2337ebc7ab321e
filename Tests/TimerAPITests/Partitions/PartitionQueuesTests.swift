import TestSupport
import Testing

@testable import TimerAPI

struct PartitionQueuesTests {
    @Test func `an empty queue has no partition that is next`() {
        var queues = PartitionQueues<Int>(count: 3)
        #expect(queues.isEmpty && queues.next == nil)
        #expect(queues.popFirst(in: 1) == nil)
        queues.rotate(1)
        #expect(queues.isEmpty && queues.next == nil)
    }

    @Test func `requests of a partition are in the order in which they came`() {
        var queues = PartitionQueues<Int>(count: 2)
        for number in 0..<5000 { queues.append(number, in: number % 2) }
        for number in stride(from: 1, to: 5000, by: 2) { #expect(queues.popFirst(in: 1) == number) }
        #expect(queues.popFirst(in: 1) == nil)
        for number in stride(from: 0, to: 5000, by: 2) { #expect(queues.popFirst(in: 0) == number) }
        #expect(queues.isEmpty)
    }

    @Test func `partitions take turns, whichever has the most requests`() {
        var queues = PartitionQueues<String>(count: 4)
        for request in ["a", "b", "c", "d"] { queues.append(request, in: 2) }
        queues.append("e", in: 0)
        queues.append("f", in: 3)
        queues.append("g", in: 0)
        var order: [String] = []
        while let partition = queues.next {
            order.append(queues.popFirst(in: partition) ?? "none")
            queues.rotate(partition)
        }
        #expect(order == ["a", "e", "f", "b", "g", "c", "d"])
    }

    @Test func `a partition that becomes empty has lost its turn`() {
        var queues = PartitionQueues<Int>(count: 3)
        queues.append(1, in: 0)
        queues.append(2, in: 1)
        #expect(queues.popFirst(in: 0) == 1)
        queues.rotate(0)
        #expect(queues.next == 1)
        queues.append(3, in: 0)
        #expect(queues.next == 1)
        queues.rotate(0)
        #expect(queues.next == 1)
    }

    /// The model is a list of requests for each partition, and the partitions that have some in the order of their turns.
    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `the queues are what a plain model says, whatever is done`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queues = PartitionQueues<Int>(count: 5)
        var requests = [[Int]](repeating: [], count: 5)
        var turns: [Int] = []
        for step in 0..<5000 {
            let partition = Int.random(in: 0..<5, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                queues.append(step, in: partition)
                if requests[partition].isEmpty { turns.append(partition) }
                requests[partition].append(step)
            case 2, 3:
                let expected = requests[partition].isEmpty ? nil : requests[partition].removeFirst()
                if requests[partition].isEmpty { turns.removeAll { $0 == partition } }
                #expect(queues.popFirst(in: partition) == expected)
            default:
                queues.rotate(partition)
                if turns.first == partition { turns.append(turns.removeFirst()) }
            }
            #expect(queues.next == turns.first)
            #expect(queues.isEmpty == turns.isEmpty)
        }
    }
}
