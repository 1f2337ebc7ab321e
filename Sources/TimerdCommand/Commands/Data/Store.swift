import ArgumentParser
import PostgresLog
import TimerLog

/// `timerd store …`.
struct Store: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prepare the PostgreSQL database that servers share.",
        discussion: """
            One of the servers on a database serves its timers, and the others stand by: --store postgres://… names \
            the database to each of them.

              timerd store migrate --store postgres://timerd@db.example/timers
            """,
        subcommands: [StoreMigrate.self])
}

/// `timerd store migrate`.
struct StoreMigrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Make the tables in a PostgreSQL database.",
        discussion: """
            Nothing happens if the tables are of this version already; those of another one are refused. The role \
            needs the right to create tables in the first schema of its search_path, and should own them from then on.

              timerd store migrate --store postgres://timerd@db.example/timers
            """)

    @OptionGroup var options: DatabaseOptions

    func run() throws {
        let address = try options.address(options.settings())
        let done: PostgresSchema.Migration
        do throws(StoreError) {
            done = try PostgresSchema.migrate(address)
        } catch {
            throw Failure(error, directory: "--store")
        }
        let what = done.from == done.to ? "there already" : "made"
        Console.out("\(address): tables of version \(done.to) \(what)")
    }
}
