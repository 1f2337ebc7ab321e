import Platform
import Testing

@testable import TimerAPI
@testable import TimerLog
@testable import TimerService

/// What a page reflects, and where a replay ends.
struct PageMarkTests {
    @Test func `a record under way holds the mark of a page back, and not the end of a replay`() throws {
        let layout = try #require(PartitionLayout(strided: 2))
        let service = try TimerService(volume: MemoryLogVolume(layout), configuration: EngineConfiguration()) { _ in }
        let engine = try #require(service.partitions.value[0]).engine
        let (head, end, newest) = engine.turn { turn in
            engine.tick()
            let newest = turn.head + 1 << 40
            var mark = PageMark(newest: newest)
            mark.note(turn, 0)
            return (mark.head?.position, mark.end, newest)
        }
        #expect(try #require(head) < newest)
        #expect(end == newest)
    }
}
