import TimerLog

extension Committer {
    /// Folds what `store` holds, or the rows of it up to `position`.
    static func fold(
        _ fold: inout LogFold, _ store: any LogStore, through position: Int64 = .max
    ) throws(StoreError) {
        let reader = try store.makeReader()
        var failure: StoreError?
        try reader.read(from: 0) { row in
            guard row.last <= position else { return false }
            do throws(StoreError) {
                try fold.fold(row)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// As above, all of it, on two threads: as the process starts, when another can be had.
    ///
    /// - Parameter moved: called now and then on the way.
    static func foldAhead(
        _ fold: inout LogFold, _ store: any LogStore, moved: () -> Void
    ) throws(StoreError) {
        try store.readAhead(moved: moved) { row throws(StoreError) in try fold.fold(row) }
    }
}
