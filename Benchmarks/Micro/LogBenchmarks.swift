import TimerCore
import TimerLog

extension Benchmark {
    /// Records and rows.
    static let log = [
        Benchmark("log.encode-created") { encode($0, LogSample.created) },
        Benchmark("log.encode-fired") { encode($0, LogSample.fired) },
        Benchmark("log.make-rows") { count in
            let records = LogSample.records([LogSample.created])
            var rows = 0
            for _ in 0..<count / LogSample.batch { rows += LogSample.rows(records, first: 1).count }
            return rows
        },
        Benchmark("log.decode-created") { decode($0, LogSample.created) },
        Benchmark("log.decode-fired") { decode($0, LogSample.fired) },
        Benchmark("log.fold-created") { fold($0, [LogSample.created]) },
        Benchmark("log.fold-created-and-activated") { fold($0, [LogSample.created, LogSample.activated]) },
    ]

    private static func encode(_ count: Int, _ effect: Effect) -> Int {
        let definition = Sample.definition(1, Sample.rules(.month))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Benchmark.many * 512)
        for _ in 0..<count { LogSample.append(effect, definition, to: &bytes) }
        return bytes.count
    }

    private static func decode(_ count: Int, _ effect: Effect) -> Int {
        let rows = LogSample.rows(LogSample.records([effect]), first: 1_000_000)
        var decoded = 0
        for _ in 0..<count / LogSample.batch {
            for row in rows {
                _ = try? BatchRows.read(row) { record in
                    decoded += record.isEvent ? 1 : 0
                    return true
                }
            }
        }
        require(decoded == count, "\(decoded) records were decoded")
        return decoded
    }

    /// Folds timers, each with a record of each of `effects`.
    private static func fold(_ count: Int, _ effects: [Effect]) -> Int {
        let recordsABatch = LogSample.batch * effects.count
        let rows = (0..<Benchmark.many / LogSample.batch).flatMap { batch in
            LogSample.rows(
                LogSample.records(effects, from: batch * LogSample.batch), first: Int64(batch * recordsABatch + 1))
        }
        var fold = LogFold(secret: Sample.secret)
        for row in rows where row.last <= Int64(count * effects.count) {
            do { try fold.fold(row) } catch { require(false, "\(error)") }
        }
        let records = fold.records
        require(records == count * effects.count, "\(records) records were folded")
        return fold.finish().count
    }
}

/// Records as the server writes them.
enum LogSample {
    /// The number of timers of a batch.
    static let batch = 128

    static let created = made[0]
    static let activated = made[1]
    /// The fire of a repeating timer.
    static let fired: Effect = {
        var set = TimerSet(1) { _ in .every(1, first: .period) }
        _ = set.pass(1)
        return set.told[0]
    }()

    private static let made = {
        let set = TimerSet(1)
        return set.told
    }()

    /// The records of a batch: of each timer, from number `first` on, one of each of `effects`.
    static func records(_ effects: [Effect], from first: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in first..<first + batch {
            let definition = Sample.definition(index, Sample.rules(.month))
            for effect in effects { append(effect, definition, to: &bytes) }
        }
        return bytes
    }

    /// Appends a record. Its timer's earlier record is the one right before it; a creation has none.
    static func append(_ effect: Effect, _ definition: [UInt8], to bytes: inout [UInt8]) {
        guard let type = effect.type else { return }
        RecordCodec.append(
            effect, type, distance: type == .created ? 0 : 1, definition: definition.span, to: &bytes)
    }

    /// The rows of a batch.
    static func rows(_ records: [UInt8], first: Int64) -> [LogRow] {
        BatchRows.make(records: records, first: first, previous: first - 1, epoch: 1, base: Sample.base)
    }
}
