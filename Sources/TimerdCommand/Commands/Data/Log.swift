import ArgumentParser
import TimerLog

/// `timerd log …`.
struct Log: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify, show and repair the log in a data directory or a database.",
        discussion: """
            The log is the truth on disk: what the server holds is read from it at start. verify and dump change \
            nothing; they also work beside a running server, but a log that is being compacted meanwhile may then \
            look damaged to them.

              timerd log verify --data ./timerd-data
              timerd log verify --store postgres://timerd@db.example/timers
              timerd log dump --data ./timerd-data | jq -c 'select(.timer == "tea")'
              timerd log repair --data ./timerd-data --yes
            """,
        subcommands: [LogVerify.self, LogDump.self, LogRepairing.self])
}

/// `timerd log dump`.
struct LogDump: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Print every record of the log as a line of JSON.",
        discussion: """
            Positions are strings, as event ids are: they are the same numbers, too large for some JSON readers. \
            Instants are UTC. Exits 78 after the last good record if the log is damaged.

              timerd log dump --data ./timerd-data --from 1898231250945671168
              timerd log dump | jq -c 'select(.type == "fired") | [.at, .timer]'
            """)

    @OptionGroup var options: LogOptions

    @Option(help: ArgumentHelp("Begin with the record at this position", valueName: "position")) var from: Int64 = 0

    @Flag(help: "Show webhooks' secrets and the values of their secret headers, which are masked otherwise")
    var secrets = false

    /// The size of the collected output, in bytes, beyond which it is written.
    private static let chunk = 64 * 1024

    func run() throws {
        let place = try options.place()
        let reader = try place.reader()
        do throws(StoreError) {
            try dump(reader)
        } catch {
            throw Failure(error, directory: place.description)
        }
    }

    private func dump(_ reader: any LogReader) throws(StoreError) {
        var output: [UInt8] = []
        var damage: StoreError?
        try reader.read(from: from) { row in
            do throws(StoreError) {
                try BatchRows.read(row) { (record) throws(StoreError) in
                    if record.position >= from {
                        RecordLine.append(record, row, showsSecrets: secrets, to: &output)
                    }
                    return true
                }
            } catch {
                damage = error
            }
            guard damage == nil, output.count > Self.chunk else { return damage == nil }
            defer { output.removeAll(keepingCapacity: true) }
            return Console.out(bytes: output)
        }
        _ = Console.out(bytes: output)
        if let damage { throw damage }
    }
}

/// `timerd log repair`.
struct LogRepairing: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Cut a damaged log before its damage; what came after is lost.",
        discussion: """
            The way back is a backup; this is for when there is none. Copy the data directory first and stop the \
            server. Without --yes it only says what it would do. Without --after it cuts after the last good record, \
            which verify names too. The log of a database is not cut: restore the database from its backup.

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
