/// Which timerd this is.
enum Release {
    /// The version, as `timerd version` and `/v1/stats` show it. `make release` checks that all other places say it.
    static let version = "0.2.0"
}
