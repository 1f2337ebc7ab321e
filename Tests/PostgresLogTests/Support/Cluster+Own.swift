import TestSupport

/// Runs on a server of its own, where a test changes or harms it.
func ownCluster(isSynced: Bool = false, _ settings: [String] = []) throws -> Cluster {
    try Cluster(on: PostgresServer(isSynced: isSynced, settings))
}
