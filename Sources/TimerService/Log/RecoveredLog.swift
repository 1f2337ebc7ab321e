import TimerCore
import TimerLog

/// The result of opening a log and folding it, with which an `ActiveLog` begins.
struct RecoveredLog: ~Copyable {
    let store: any LogStore
    /// The end of the log and its epoch, as the store found them.
    let head: StoreHead
    /// Position up to which rows were deleted: the first row's link.
    let deletedThrough: Int64
    /// Position of the oldest record; nil for an empty log.
    let oldest: Int64?
    /// Bytes of the rows' data.
    let bytes: RowBytes
    /// How many records were folded.
    let records: Int
    /// The timers and answers that are live.
    var fold: LogFold

    /// Opens `store` and folds what it holds.
    ///
    /// - Parameters:
    ///   - isAhead: whether rows are read and decoded on a thread of their own.
    ///   - moved: called now and then on the way.
    /// - Throws: when the store can't be used, or what it holds is damaged.
    static func recover(
        _ store: any LogStore, _ configuration: EngineConfiguration, isAhead: Bool = false, moved: () -> Void = {}
    ) throws(StoreError) -> RecoveredLog {
        let head = try store.open()
        moved()
        var fold = LogFold(
            secret: head.secret, maximumTimers: configuration.maximumTimers, zones: configuration.zones)
        if isAhead {
            try store.readAhead(moved: moved) { row throws(StoreError) in try fold.fold(row) }
        } else {
            try store.fold(into: &fold)
        }
        moved()
        let (deletedThrough, oldest) = (fold.deletedThrough ?? 0, fold.oldest)
        let (bytes, records) = (fold.bytes, fold.records)
        return RecoveredLog(
            store: store, head: head, deletedThrough: deletedThrough, oldest: oldest, bytes: bytes, records: records,
            fold: fold)
    }
}

extension LogStore {
    /// Folds the rows up to `position`.
    func fold(into fold: inout LogFold, through position: Int64 = .max) throws(StoreError) {
        let reader = try makeReader()
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
}
