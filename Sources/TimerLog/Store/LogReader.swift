/// Reads rows beside the writer, on a connection of its own. Confined to one thread at a time.
public protocol LogReader: AnyObject {
    /// Hands the rows that hold positions from `position` on to `body`, in order (the first may start before
    /// `position`), until `body` returns false or no row is left. Rows appended or deleted meanwhile may or may not be
    /// among them: a caller that needs an unbroken run feeds a `ChainVerifier`. A row that `body` does not keep lends its storage
    /// to later ones.
    func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError)
    /// The row that holds `position`, or nil.
    func row(holding position: Int64) throws(StoreError) -> LogRow?
}
