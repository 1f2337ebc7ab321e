import TimerCore
import TimerLog

/// A log folded from its first row to its last, or to where it is damaged.
struct LogScan: ~Copyable {
    /// The number of rows that are whole and follow each other.
    private(set) var rows = 0
    /// Position of the first record; nil in an empty log.
    private(set) var first: Int64?
    /// The error that stopped the fold; nil where the log is whole.
    private(set) var damage: StoreError?
    private var progress = Progress()
    private var fold = LogFold(secret: [UInt8](repeating: 0, count: 16))

    /// Position of the last good record, 0 when there is none.
    var last: Int64 { fold.head }
    /// The number of good records.
    var records: Int { fold.records }
    /// Bytes of good rows.
    var bytes: Int { fold.bytes.total }
    /// The number of answers kept for idempotency keys.
    var answers: Int { fold.answers.count }

    /// Reads the log of `place`.
    ///
    /// - Throws: where the log can't be read at all; damage is no error here.
    init(_ place: LogPlace) throws(Failure) {
        let reader = try place.reader()
        defer { progress.end() }
        do throws(StoreError) {
            try reader.read(from: 0) { take($0) }
        } catch {
            // Damage that the store itself finds ends the scan as a bad row does.
            guard error.kind == .damaged, rows > 0 || place.isShared else {
                throw Failure(error, directory: place.description)
            }
            damage = error
        }
    }

    private mutating func take(_ row: LogRow) -> Bool {
        do throws(StoreError) {
            try fold.fold(row)
            rows += 1
            if first == nil { first = row.first }
            let (rows, bytes) = (rows, bytes)
            progress.show("\(rows) rows, \(ShortSize.text(Int64(bytes)))")
            return true
        } catch {
            damage = error
            return false
        }
    }

    /// Returns the number of timers in each state at the last good row.
    consuming func timers() -> [(state: TimerState, count: Int)] {
        let scheduler = fold.finish()
        return TimerState.allCases.map { ($0, scheduler.count(in: $0)) }
    }
}
