import ArgumentParser

/// `timerd cluster …`.
struct Cluster: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at several servers on one PostgreSQL database, and decide what they can't.",
        subcommands: [ClusterStatus.self, ClusterAcceptLoss.self])
}
