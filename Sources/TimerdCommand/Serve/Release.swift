/// Which timerd this is.
enum Release {
    /// The version, as `timerd version` and `/v1/stats` show it.
    static let version = "0.1.0"
}
