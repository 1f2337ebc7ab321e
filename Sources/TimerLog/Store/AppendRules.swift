/// What every store checks before it writes.
public enum AppendRules {
    /// How many positions stay free before the first of each batch of a shared log, for what `LogStore.settle` writes.
    public static let settlements: Int64 = 16

    /// Why `rows` must not be written by a store that stands at `head`, or nil when they may.
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
            // If these rows were written, the next start would fail; refusing them costs one batch.
            return .absent(StoreError(.damaged, "rows to append do not follow the log: \(error)"))
        }
    }
}
