/// The checks that every store makes before it writes.
public enum AppendRules {
    /// The number of positions that stay free before the first of each batch of a shared log, for the rows that
    /// `LogStore.settle` writes.
    public static let settlements: Int64 = 16

    /// Returns why a store at `head` must not write `rows`, or nil when it may.
    public static func refusal(_ rows: [LogRow], expecting: Int64, epoch: Int64, head: StoreHead) -> AppendOutcome? {
        guard epoch == head.epoch else { return .fenced }
        guard expecting == head.last else {
            return .diverged(StoreError(.io, "the log ends at position \(head.last), not at \(expecting)"))
        }
        var verifier = ChainVerifier(after: head.last)
        do throws(StoreError) {
            for row in rows { try verifier.check(row) }
            return nil
        } catch {
            // The next start would fail if these rows were written; refusing them costs one batch.
            return .absent(StoreError(.damaged, "rows to append do not follow the log: \(error)"))
        }
    }
}
