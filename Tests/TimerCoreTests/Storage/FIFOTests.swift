import Testing

@testable import TimerCore

struct FIFOTests {
    @Test(arguments: [0, 1, 1023, 1024, 1025, 2048, 5000])
    func `a long queue loses and mixes up nothing`(count: Int) {
        var queue = FIFO<Int>()
        for number in 0..<count { queue.append(number) }
        // Takes half of the queue and appends as many again, so that both ends move over the chunks' bounds.
        for number in 0..<count / 2 { #expect(queue.popFirst() == number) }
        for number in count..<count + count / 2 { queue.append(number) }
        #expect((0..<queue.count).map { queue[$0] } == Array(count / 2..<count + count / 2))
        for number in count / 2..<count + count / 2 {
            #expect(queue.count == count + count / 2 - number)
            #expect(queue.first == number)
            #expect(queue.popFirst() == number)
        }
        #expect(queue.isEmpty && queue.first == nil && queue.popFirst() == nil)
    }
}
