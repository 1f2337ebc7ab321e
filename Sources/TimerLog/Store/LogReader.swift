/// Reads rows beside the writer, on a connection of its own. Confined to one thread at a time.
public protocol LogReader: AnyObject {
    /// Passes the rows that hold positions from `position` on to `body`, in order (the first may start before
    /// `position`), until `body` returns false or no row is left. Rows appended or deleted meanwhile may or may not
    /// be among them: a caller that needs an unbroken run feeds a `ChainVerifier`. The storage of a row that `body`
    /// does not keep is used again for later rows.
    func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError)
    /// Returns the row that holds `position`, or nil.
    func row(holding position: Int64) throws(StoreError) -> LogRow?
    /// Follows positions back: passes the row that holds `position` to `body`, then the row that holds the position
    /// that `body` returned, which is before that row, and so on until `body` returns nil. A store whose single
    /// reads cost a round trip reads several rows at once where they are likely to be asked for; the rows that it
    /// holds are bounded in number and bytes.
    ///
    /// - Returns: the position that no row holds, if the walk ended there; nil if `body` ended it.
    func follow(
        from position: Int64, _ body: (LogRow) throws(StoreError) -> Int64?
    ) throws(StoreError) -> Int64?
}

extension LogReader {
    /// Reads one row after the other.
    public func follow(
        from position: Int64, _ body: (LogRow) throws(StoreError) -> Int64?
    ) throws(StoreError) -> Int64? {
        var next = position
        while let row = try row(holding: next) {
            guard let further = try body(row) else { return nil }
            next = further
        }
        return next
    }
}
