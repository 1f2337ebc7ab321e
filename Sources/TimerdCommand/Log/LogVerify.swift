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
