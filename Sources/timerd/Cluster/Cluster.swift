import ArgumentParser

/// `timerd cluster …`.
struct Cluster: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Decide what servers on one PostgreSQL database can't decide by themselves.",
        subcommands: [ClusterAcceptLoss.self])
}
