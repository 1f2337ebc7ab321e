import ArgumentParser
import TimerLog

/// `timerd log repair`.
struct LogRepairing: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Cut a damaged log before its damage; what came after is lost.",
        discussion: """
            The way back is a backup; this is for when there is none. Copy the data directory first and stop the \
            server. Without --yes it only says what it would do. Without --after it cuts behind the last record \
            that is good, which verify names too. The log of a database is not cut: restore the database from its backup.

              timerd log repair --data ./timerd-data
              timerd log repair --data ./timerd-data --yes
            """)

    @OptionGroup var options: LogOptions

    @Option(help: ArgumentHelp("Keep records up to this position, delete the rest", valueName: "position"))
    var after: Int64?

    @Flag(help: "Delete, instead of only saying what would be.") var yes = false

    func run() throws {
        let directory = try options.place().directory(
            orUse:
                "this cuts the log of a data directory; restore a database from PostgreSQL's backup, up to a point in time"
        )
        let position: Int64
        if let after {
            guard after >= 0 else { throw Failure(.usage, "--after \(after): a position is not negative") }
            position = after
        } else {
            let scan = try LogScan(.directory(directory))
            guard let damage = scan.damage else {
                Console.out("\(directory): the log is good, nothing to repair")
                return
            }
            // A log that a newer timerd wrote is not damaged, and a cut would lose its records.
            guard damage.kind == .damaged else { throw Failure(damage, directory: directory) }
            Console.out("\(directory): \(damage)")
            position = scan.last
        }
        guard yes else {
            throw Failure(.usage, "would delete every record after position \(position) in \(directory); say --yes")
        }
        do throws(StoreError) {
            let cut = try LogRepair.cut(directory: directory, after: position)
            let range = if let first = cut.first, let last = cut.last { ", positions \(first) to \(last)" } else { "" }
            Console.out("\(directory): deleted \(cut.rows) rows, \(cut.bytes) bytes\(range)")
        } catch {
            throw Failure(error, directory: directory)
        }
    }
}
