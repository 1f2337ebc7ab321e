import ArgumentParser

/// `timerd store …`.
struct Store: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prepare the PostgreSQL database that servers share.",
        discussion: """
            Of the servers on one database one serves its timers, and the others stand by: --store postgres://… names it \
            to each of them.

              timerd store migrate --store postgres://timerd@db.example/timers
            """,
        subcommands: [StoreMigrate.self])
}
