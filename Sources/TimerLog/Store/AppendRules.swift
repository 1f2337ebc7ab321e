/// What every store checks before it writes.
enum AppendRules {
    /// Why `rows` must not be written by a store that stands at `head`, or nil when they may.
    static func refusal(_ rows: [LogRow], expecting: Int64, epoch: Int64, head: StoreHead) -> AppendOutcome? {
        guard expecting == head.last, epoch == head.epoch else { return .fenced }
        var verifier = ChainVerifier(after: head.last)
        do throws(StoreError) {
            for row in rows { try verifier.check(row) }
            return nil
        } catch {
            // Written, these rows would stop the next start; refused, they cost one batch.
            return .absent(StoreError(.damaged, "rows to append do not follow the log: \(error)"))
        }
    }
}
