import ArgumentParser

/// `timerd store …`.
struct Store: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prepare the PostgreSQL database that servers share.",
        discussion: """
            Servers on one database serve its timers together: --store postgres://… names it to each of them.

              timerd store migrate --store postgres://timerd@db.example/timers
            """,
        subcommands: [StoreMigrate.self])
}
