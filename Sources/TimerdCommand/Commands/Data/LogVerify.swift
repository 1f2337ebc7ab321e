import ArgumentParser
import TimerCore
import TimerLog

/// `timerd log verify`.
struct LogVerify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read the whole log and say what it holds, or where it is damaged.",
        discussion: """
            Checks every checksum, the chain of rows, and that each record is about a timer the log defines. \
            Exits 0 when all of it is good, 78 when not.

              timerd log verify --data ./timerd-data
              timerd log verify --store postgres://timerd@db.example/timers
            """)

    @OptionGroup var options: LogOptions

    /// The most readings of a database's log: a row that is replaced while its neighbours are read looks damaged
    /// once, real damage each time.
    private static let readings = 3

    func run() throws {
        let place = try options.place()
        let scan = try scan(place)
        if let damage = scan.damage {
            throw Failure(.unusable, "\(place): \(damage); good up to position \(scan.last)")
        }
        let first = scan.first.map { "positions \($0) to \(scan.last)" } ?? "empty"
        Console.out("\(scan.records) records in \(scan.rows) rows, \(scan.bytes) bytes, \(first)")
        Console.out("\(scan.answers) answers to idempotency keys")
        let timers = scan.timers()
        let states = timers.map { "\($0.count) \($0.state.name)" }.joined(separator: ", ")
        Console.out("\(timers.reduce(0) { $0 + $1.count }) timers: \(states)")
    }

    private func scan(_ place: LogPlace) throws(Failure) -> LogScan {
        for _ in 1..<(place.isShared ? Self.readings : 1) {
            let scan = try LogScan(place)
            if scan.damage == nil { return scan }
        }
        return try LogScan(place)
    }
}

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
