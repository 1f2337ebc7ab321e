import ArgumentParser

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
