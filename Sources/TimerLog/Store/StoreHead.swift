/// The end of the log in an open store, with the log's secret.
public struct StoreHead: Sendable, Equatable {
    /// The epoch this writer holds.
    public var epoch: Int64
    /// Position of the last record on disk, 0 when there is none.
    public var last: Int64
    /// The secret of this log (16 bytes), drawn when the log was made: the key of the hashes that order lists.
    public var secret: [UInt8]
    /// Wall milliseconds at which the log was copied, or its end cut: another server may have gone on from there,
    /// so positions and versions begin again by the clock. Nil from the first append on.
    public var branchedAt: Int64?

    /// Makes a head; see the members.
    public init(epoch: Int64, last: Int64, secret: [UInt8], branchedAt: Int64? = nil) {
        self.branchedAt = branchedAt
        self.epoch = epoch
        self.last = last
        self.secret = secret
    }
}
