import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// What a process pays for each partition that it owns.
struct PartitionCostTests {
    /// Makes every partition of a volume of 1,024, empty, in memory.
    private static func partitions() throws -> [Partition] {
        let layout = try #require(PartitionLayout(strided: 1024))
        let time = ManualTime()
        let shared = SharedParts(
            EngineConfiguration(), partitions: layout.count, alarm: ManualAlarm(time), timeSource: time)
        return try (0..<layout.count).map { number in
            Partition(
                try RecoveredLog.recover(
                    MemoryLogStore(), EngineConfiguration(), hashPrefix: layout.hashPrefix(of: number)),
                place: PartitionPlace(number, of: layout), configuration: EngineConfiguration(), shared: shared,
                report: { _ in })
        }
    }

    /// Bytes resident, without what the allocator merely keeps back.
    private static func residentBytes() -> Int {
        ProcessUsage.trimMemory()
        return ProcessUsage.residentBytes()
    }

    /// Bytes of memory that each of 1,024 partitions takes once `body` was called with it.
    private static func cost(_ body: (Partition) throws -> Void = { _ in }) throws -> Int {
        // What is made once in a process is made before.
        let first = try partitions()
        try first.forEach(body)
        let before = residentBytes()
        let measured = try partitions()
        try measured.forEach(body)
        let bytes = (residentBytes() - before) / measured.count
        withExtendedLifetime((first, measured)) {}
        return bytes
    }

    // In processes of their own, where no other test allocates.

    @Test func `an empty partition costs at most 32 KiB`() async {
        await #expect(processExitsWith: .success) {
            let bytes = try Self.cost()
            #expect(bytes > 1 << 10 && bytes <= 32 << 10, "\(bytes) bytes")
        }
    }

    @Test func `a partition with a timer and an idempotency key costs at most 48 KiB`() async {
        await #expect(processExitsWith: .success) {
            let bytes = try Self.cost { partition in
                // In whichever partition it belongs: it costs the same.
                let key = TimerKey(id: Array("a".utf8).span, siphash: SipHash(secret: partition.secret))
                partition.engine.turn { turn in
                    var bytes = definition("a", TimerRules(.after(1000)))
                    _ = try? turn.create(key, definition: &bytes)
                    turn.answer(Hash128(high: 1, low: 1), fingerprint: Hash128(high: 2, low: 1), [1, 2, 3])
                }
                try #require(partition.engine.timerCount == 1)
            }
            #expect(bytes > 1 << 10 && bytes <= 48 << 10, "\(bytes) bytes")
        }
    }
}
