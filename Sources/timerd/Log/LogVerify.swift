import ArgumentParser
import TimerCore

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

    /// A row of a database that is replaced while its neighbours are read looks damaged once; damage stays.
    private static let readings = 3

    func run() throws {
        let place = try options.place()
        let logs = try place.logs()
        var sum = LogSum()
        var damages: [String] = []
        for log in logs {
            let scan = try scan(log, of: place)
            if let damage = scan.damage { damages.append("\(damage); good up to position \(scan.last)") }
            sum.add(scan)
        }
        guard damages.isEmpty else { throw Failure(.unusable, "\(place): \(damages.joined(separator: "; "))") }
        let first = sum.first.map { "positions \($0) to \(sum.last)" } ?? "empty"
        let partitions = logs.count > 1 ? " of \(logs.count) partitions" : ""
        Console.out("\(sum.records) records in \(sum.rows) rows\(partitions), \(sum.bytes) bytes, \(first)")
        Console.out("\(sum.answers) answers to idempotency keys")
        let states = zip(TimerState.allCases, sum.timers).map { "\($1) \($0.name)" }.joined(separator: ", ")
        Console.out("\(sum.timers.reduce(0, +)) timers: \(states)")
    }

    private func scan(_ log: LogPlace.Readable, of place: LogPlace) throws(Failure) -> LogScan {
        for _ in 1..<(place.isShared ? Self.readings : 1) {
            let scan = try LogScan(log, in: place.description)
            if scan.damage == nil { return scan }
        }
        return try LogScan(log, in: place.description)
    }
}
