import ArgumentParser
import TimerLog

/// `timerd backup`.
struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the log to another directory, also while the server runs.",
        discussion: """
            The copy is the log as it was at one instant, read back before it gets its name. To restore, start a \
            server on the copy. cp of a live file is no backup. A database is backed up by PostgreSQL's own means.

              timerd backup --data ./timerd-data --to /backups/2026-11-21
            """)

    @OptionGroup var options: LogOptions

    @Option(
        help: ArgumentHelp("The directory of the copy, empty or missing", valueName: "directory"),
        completion: .directory)
    var to: String

    func run() throws {
        let directory = try options.place().directory(
            orUse:
                "this copies a data directory; back a database up with pg_basebackup and archived WAL, or with pg_dump")
        guard !to.isEmpty else { throw Failure(.usage, "--to needs a directory") }
        var progress = Progress()
        do throws(StoreError) {
            let copy = try LogBackup.copy(from: directory, to: to) {
                progress.show("\($0.rows) rows, \(ShortSize.text(Int64($0.bytes)))")
            }
            progress.end()
            Console.out("\(to): \(copy.rows) rows, \(copy.bytes) bytes, up to position \(copy.head)")
        } catch {
            progress.end()
            throw Failure(error, directory: directory)
        }
    }
}
