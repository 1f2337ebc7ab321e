/// Verifies that rows, fed in order, form one unbroken chain.
///
/// The first row may name any row before it: older rows are deleted once their state has been written again.
public struct ChainVerifier: Sendable {
    /// Position of the last record so far; nil before the first row.
    public private(set) var last: Int64?

    /// Makes a verifier that has seen nothing or, where `last` is given, the row that ends there.
    public init(after last: Int64? = nil) {
        self.last = last
    }

    /// Checks the next row. Throws `damaged`, which names the row by its first position, when the row can't follow.
    public mutating func check(_ row: LogRow) throws(StoreError) {
        try check(first: row.first, last: row.last, previous: row.previous, byteCount: row.data.count)
    }

    /// Checks the next row like `check(_:)`, without its data.
    mutating func check(first: Int64, last: Int64, previous: Int64, byteCount: Int) throws(StoreError) {
        let fault: String? =
            if previous < 0 {
                "names a previous position \(previous), which is negative"
            } else if let expected = self.last, previous != expected {
                "follows position \(previous), but the row before it ends at \(expected)"
            } else if first <= previous {
                "starts at or before \(previous), where the row before it ends"
            } else if first > last {
                "ends at \(last), before it starts"
            } else if byteCount == 0 {
                "is empty"
            } else {
                nil
            }
        if let fault { throw StoreError(.damaged, "the log is damaged: the row at position \(first) \(fault)") }
        self.last = last
    }
}
