import ArgumentParser
import PostgresLog
import TimerLog

/// `timerd store migrate`.
struct StoreMigrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Make the tables in a PostgreSQL database, or bring them to this version.",
        discussion: """
            Servers of the version before go on beside the new tables. Nothing happens where the tables are of this \
            version already; tables of a newer one are refused. The role needs the right to create tables in the first \
            schema of its search_path, and should own them from then on.

              timerd store migrate --store postgres://timerd@db.example/timers
            """)

    @OptionGroup var options: DatabaseOptions
    @Option(name: Setting.partitions.name, help: Setting.partitions.help) var partitions: String?

    func run() throws {
        let settings = try options.settings([Setting.partitions.flag: partitions])
        let address = try options.address(settings)
        let count = try settings.all(.partitions).first?.integer(1...Int(PartitionLayout.wideStride))
        let done: PostgresSchema.Migration
        do throws(StoreError) {
            done = try PostgresSchema.migrate(address, partitions: count ?? PostgresSchema.partitionsByDefault)
        } catch {
            throw Failure(error, directory: "--store")
        }
        if let count, count != done.partitions {
            throw Failure(.unusable, "the tables are there and have \(done.partitions) partitions, not \(count)")
        }
        let what = done.from == done.to ? "of version \(done.to) already" : "version \(done.from) to \(done.to)"
        Console.out("\(address): \(what), \(done.partitions) partitions")
    }
}
