import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// What a volume writes, and what it finds.
struct PostgresLogVolumeTests {
    @Test func `an empty log stands at 0, whatever the partition`() throws {
        let volume = try Cluster().volume()
        for partition in 0..<4 {
            let head = try volume.store(partition).open()
            #expect(head.last == 0)
            #expect(head.epoch == 0)
            #expect(head.secret == volume.secret)
            #expect(try rows(of: volume.store(partition)) == [])
            #expect(try volume.store(partition).makeReader().row(holding: Int64(partition)) == nil)
        }
    }

    @Test func `batches of all partitions are written together, and each is read back`() throws {
        let cluster = try Cluster()
        let volume = try cluster.volume()
        var batches = [0: stridedChain(0, count: 3), 1: stridedChain(1), 3: stridedChain(3, count: 2)]
        #expect(volume.append(batches) == [.durable, .durable, .durable])
        for partition in 0..<4 { #expect(try rows(of: volume.store(partition)) == batches[partition] ?? []) }
        let more = stridedChain(1, after: batches[1]?.last?.last ?? 0, count: 2)
        #expect(volume.append([1: more]) == [.durable])
        batches[1]? += more
        let other = try cluster.volume()
        for partition in 0..<4 {
            #expect(try other.store(partition).open().last == batches[partition]?.last?.last ?? 0)
            #expect(try rows(of: other.store(partition)) == batches[partition] ?? [])
        }
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log WHERE previous >= 0") == 8)
    }
}
