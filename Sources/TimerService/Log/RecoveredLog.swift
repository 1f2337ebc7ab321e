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
    /// Bytes of the rows' data; nil where they are not known: the fold was begun while another process had the log.
    let bytes: RowBytes?
    /// How many records were folded.
    let records: Int
    /// The timers that are live.
    var fold: LogFold
    /// The answers that are live.
    let answered: IdempotencyTable
    /// The newest rows, which a standby has kept; none after a read from the start of the log.
    let recent: RecentRows
    /// The greatest position and version that were read or shown, and that the log may have lost.
    let lost: HighWaterMark
    /// The rows that an owner had shown and that the log was found to have lost; nil where nothing is known of such rows.
    let loss: LostRows?

    /// Opens `store` and folds what it holds.
    ///
    /// - Parameters:
    ///   - isAhead: whether rows are read and decoded on a thread of their own.
    ///   - moved: called now and then on the way.
    /// - Throws: when the store can't be used, or what it holds is damaged.
    static func recover(
        _ store: any LogStore, _ configuration: EngineConfiguration, isAhead: Bool = false, moved: () -> Void = {}
    ) throws(StoreError) -> RecoveredLog {
        var none: StandbyFold?
        return try recover(store, configuration, from: &none, isAhead: isAhead, moved: moved)
    }

    /// Opens `store` and folds what it holds.
    ///
    /// - Parameters:
    ///   - standby: a fold of the log that is continued; nil for none. The fold is taken, but after an error it is left
    ///     here, for the next attempt.
    ///   - isAhead, moved: as in the method above.
    /// - Throws: as the method above; `unavailable` where another process has changed the end of the log meanwhile.
    static func recover(
        _ store: any LogStore, _ configuration: EngineConfiguration, from standby: inout StandbyFold?,
        isAhead: Bool = false, moved: () -> Void = {}
    ) throws(StoreError) -> RecoveredLog {
        let head = try store.open()
        moved()
        var log = standby.take() ?? StandbyFold(secret: head.secret, configuration)
        let start: (deletedThrough: Int64, oldest: Int64?)
        do throws(StoreError) {
            try log.readRest(of: store, through: head.last, isAhead: isAhead, moved: moved)
            start = try log.start(of: store)
        } catch {
            standby = consume log
            throw error
        }
        moved()
        return RecoveredLog(store, head, log, deletedThrough: start.deletedThrough, oldest: start.oldest)
    }
}

extension RecoveredLog {
    /// Makes a recovered log of what was folded; see the members.
    init(
        _ store: any LogStore, _ head: StoreHead, _ log: consuming StandbyFold, deletedThrough: Int64, oldest: Int64?
    ) {
        self.init(
            store: store, head: head, deletedThrough: deletedThrough, oldest: oldest, bytes: log.bytes,
            records: log.fold.records, fold: log.fold, answered: log.answered, recent: log.recent, lost: log.lost,
            loss: log.loss)
    }
}

extension StandbyFold {
    /// Reads and folds what the open log of `store` holds after the newest row, up to its `end`.
    fileprivate mutating func readRest(
        of store: any LogStore, through end: Int64, isAhead: Bool, moved: () -> Void
    ) throws(StoreError) {
        var breaks = 0
        while true {
            // A deletion of the owner before may still be under way; the log is damaged where rows are missing time
            // and again.
            let isShared = store.isShared && breaks < Self.mostBreaks
            let round =
                isAhead
                ? try round(readingAhead: store, isShared: isShared, moved: moved)
                : try round(at: nil, try store.makeReader(), isShared: isShared)
            if round == .ended { break }
            breaks += 1
        }
        // Another session may have taken the log since it was opened, and the database may have lost rows. A log of
        // this process alone ends where it was read.
        guard head == end || !store.isShared else {
            throw StoreError(.unavailable, "the log ended at position \(end), and is read up to \(head)")
        }
    }

    /// Finds where the log of `store` begins: the position up to which rows were deleted, and that of the oldest record.
    fileprivate func start(of store: any LogStore) throws(StoreError) -> (deletedThrough: Int64, oldest: Int64?) {
        var start = (deletedThrough: fold.deletedThrough ?? 0, oldest: fold.oldest)
        guard bytes == nil else { return start }
        // The rows that were the oldest when the fold began may be deleted.
        try store.makeReader().read(from: 0) { row in
            start = (row.previous, row.first)
            return false
        }
        return start
    }

    /// The number of times that the fold begins again while a shared log is read, before missing rows are damage.
    private static let mostBreaks = 3
}

extension LogStore {
    /// Folds the rows up to `position`.
    func fold(into fold: inout LogFold, through position: Int64 = .max) throws(StoreError) {
        try makeReader().readDecoded(from: 0) { row throws(StoreError) in
            guard row.row.last <= position else { return false }
            try fold.fold(row)
            return true
        }
    }
}
