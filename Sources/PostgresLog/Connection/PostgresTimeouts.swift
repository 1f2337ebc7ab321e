/// The limits on waiting for the server, in nanoseconds.
public struct PostgresTimeouts: Sendable {
    /// The limit for a connection to one host, unless the address has a `connect_timeout`.
    public var connect: Int64 = 3_000_000_000
    /// The limit for a statement.
    public var statement: Int64 = 5_000_000_000
    /// The addition for each MiB that an append carries.
    public var mebibyte: Int64 = 1_000_000_000
    /// The limit for a page of rows.
    public var page: Int64 = 30_000_000_000
    /// The limit for a `VACUUM`.
    public var vacuum: Int64 = 3_600_000_000_000
    /// How long a reopening waits for a row that an append under way holds, before it ends that append's backend.
    public var lock: Int64 = 500_000_000

    /// Makes the usual limits.
    public init() {}
}
