import TestSupport

/// Runs on a server of its own, where a test changes or harms it.
func ownCluster(partitions: Int = 4, isSynced: Bool = false, _ settings: [String] = []) throws -> Cluster {
    try Cluster(partitions: partitions, on: PostgresServer(isSynced: isSynced, settings))
}
