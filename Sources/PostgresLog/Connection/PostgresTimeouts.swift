/// How long the server is waited for, in nanoseconds.
public struct PostgresTimeouts: Sendable {
    /// For a connection to one host, unless the address has a `connect_timeout`.
    public var connect: Int64 = 3_000_000_000
    /// For a statement.
    public var statement: Int64 = 5_000_000_000
    /// For each MiB that an append carries, in addition.
    public var mebibyte: Int64 = 1_000_000_000
    /// For a page of rows.
    public var page: Int64 = 30_000_000_000
    /// For a `VACUUM`.
    public var vacuum: Int64 = 3_600_000_000_000
    /// How long a reopening waits for a row that an append under way holds, before it ends that append's backend.
    public var lock: Int64 = 500_000_000

    /// The usual ones.
    public init() {}
}
