import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// Portions of several logs, read in one statement, against what each log's own reader reads.
struct PortionReaderTests {
    @Test func `each log is read from its own place on, and says whether it ends`() throws {
        let volume = try Cluster().volume()
        let logs = [0: stridedChain(0, count: 3), 1: stridedChain(1), 3: stridedChain(3, count: 40)]
        #expect(volume.append(logs) == [.durable, .durable, .durable])
        for partition in 0..<4 {
            let log = logs[partition] ?? []
            // Before, in, between and behind all rows.
            var positions: [Int64] = [1]
            for row in log { positions += [row.first, row.last, row.last + 1] }
            for position in positions {
                let expected = try rows(of: volume.store(partition), from: position)
                for bytes in [1, 1 << 20] {
                    let both = [(partition: 2, position: position), (partition: partition, position: position)]
                    let portions = try #require(try volume.portions(from: both, bytes: bytes))
                    if partition != 2 { #expect(portions[0] == LogPortion(rows: [], endsLog: true)) }
                    let kept = bytes == 1 ? Array(expected.prefix(1)) : expected
                    #expect(portions[1].rows == kept && portions[1].endsLog == (kept.count == expected.count))
                }
            }
        }
    }

    @Test func `a log of more rows than a portion takes is read on behind them`() throws {
        let volume = try Cluster().volume()
        let log = stridedChain(2, count: 300)
        #expect(volume.append([2: log]) == [.durable])
        var (found, ends, reads) = ([LogRow](), false, 0)
        while !ends {
            let start = (partition: 2, position: (found.last?.last ?? 0) + 1)
            let portion = try #require(try volume.portions(from: [start], bytes: 1 << 20)?.first)
            found += portion.rows
            (ends, reads) = (portion.endsLog, reads + 1)
        }
        #expect(found == log && reads == 3)
    }

    @Test func `a log that is not open is not read`() throws {
        let volume = try Cluster().volume()
        volume.store(1).close()
        #expect(throws: PostgresLogStore.notOpen) { try volume.portions(from: [(partition: 1, position: 1)], bytes: 1) }
    }
}
