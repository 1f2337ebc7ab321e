/// The release of timerd that this program is.
enum Release {
    /// The version, as `timerd version` and `/v1/stats` show it. `make release` checks that it is the same in all
    /// other places.
    static let version = "0.2.0"
}
