import TimerCore
import TimerLog

/// What opening a partition's log and folding it gave: what the partition begins with.
struct RecoveredLog: ~Copyable {
    let store: any LogStore
    /// What the hashes of all its timers begin with.
    let hashPrefix: HashPrefix
    /// Where the store stands.
    let head: StoreHead
    /// Rows up to there were deleted: the first row's link.
    let deletedThrough: Int64
    /// Position of the oldest record; nil for an empty log.
    let oldest: Int64?
    /// Bytes of the rows' data.
    let bytes: RowBytes
    /// How many records were folded.
    let records: Int
    /// What was live.
    var fold: LogFold

    /// Opens `store` and folds what it holds.
    ///
    /// - Parameters:
    ///   - hashPrefix: what the hashes of all its timers begin with.
    ///   - isAhead: rows are read and decoded on a thread of their own.
    ///   - moved: called now and then on the way.
    /// - Throws: when the store can't be used, or what it holds is damaged.
    static func recover(
        _ store: any LogStore, _ configuration: EngineConfiguration, hashPrefix: HashPrefix = .none,
        isAhead: Bool = false, moved: () -> Void = {}
    ) throws(StoreError) -> RecoveredLog {
        let head = try store.open()
        moved()
        var fold = LogFold(
            secret: head.secret, hashPrefix: hashPrefix, maximumTimers: configuration.maximumTimers,
            zones: configuration.zones)
        if isAhead {
            try store.readAhead(moved: moved) { row throws(StoreError) in try fold.fold(row) }
        } else {
            try store.fold(into: &fold)
        }
        moved()
        let (deletedThrough, oldest) = (fold.deletedThrough ?? 0, fold.oldest)
        let (bytes, records) = (fold.bytes, fold.records)
        return RecoveredLog(
            store: store, hashPrefix: hashPrefix, head: head, deletedThrough: deletedThrough, oldest: oldest,
            bytes: bytes, records: records, fold: fold)
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
