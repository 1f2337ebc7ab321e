/// Where a partition's log ends, as its writer knows: what an append and a deletion have to find.
///
/// A log that has no row yet ends in one that is never shown, whose position is the partition's number. For everyone else such
/// a log ends at 0, and its first row names 0 as the one before.
struct LogEnd: Equatable, Sendable {
    /// The epoch that the writer holds.
    var epoch: Int64
    /// Key of the newest row: `previous` as it is stored.
    var tail: Int64
    /// Position of the newest record, as it is stored.
    var last: Int64

    /// A position as it is stored, of one that readers and writers name.
    static func stored(_ position: Int64, in partition: Int) -> Int64 { position == 0 ? Int64(partition) : position }
    /// A position as readers and writers name it.
    static func shown(_ position: Int64, in partition: Int) -> Int64 { position == Int64(partition) ? 0 : position }
}
