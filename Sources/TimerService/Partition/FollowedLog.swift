import TimerCore
import TimerLog

/// The log of a partition that another process still writes, folded as far as it was read. One thread at a time has it.
///
/// Its owner deletes and condenses rows meanwhile. What was read of them stays true; where what is read next does not follow
/// what was read, all is read anew.
final class FollowedLog: @unchecked Sendable {  // unchecked: the thread that has taken it alone touches it
    /// How many bytes the log had grown to when its rows up to `last` were read.
    private struct Span {
        var last: Int64
        var bytes: RowBytes
    }

    private let store: any LogStore
    private let configuration: EngineConfiguration
    private let secret: [UInt8]
    private let hashPrefix: HashPrefix
    /// Whether rows are read and decoded on a thread of their own.
    private let isAhead: Bool
    private var fold: LogFold
    /// A place about each MiB, to take off the bytes of rows that go.
    private var spans: [Span] = []

    private static let spanBytes = 1 << 20
    /// How often one call begins anew.
    private static let mostAttempts = 3

    /// Nothing is read yet.
    ///
    /// - Parameters:
    ///   - secret: of the volume.
    ///   - hashPrefix: what the hashes of all its timers begin with.
    init(
        _ store: any LogStore, _ configuration: EngineConfiguration, secret: [UInt8], hashPrefix: HashPrefix,
        isAhead: Bool = true
    ) {
        self.store = store
        self.configuration = configuration
        self.secret = secret
        self.hashPrefix = hashPrefix
        self.isAhead = isAhead
        fold = Self.empty(configuration, secret, hashPrefix)
    }

    private static func empty(
        _ configuration: EngineConfiguration, _ secret: [UInt8], _ hashPrefix: HashPrefix
    ) -> LogFold {
        LogFold(
            secret: secret, hashPrefix: hashPrefix, maximumTimers: configuration.maximumTimers,
            zones: configuration.zones)
    }

    /// Position of the newest record that was read.
    var head: Int64 { fold.head }

    /// Reads the rows that have come, until none is left.
    ///
    /// - Parameter isWanted: asked with each row; the reading ends with the first no.
    /// - Returns: how many there were.
    /// - Throws: when they can't be read, or are damaged.
    func readOn(while isWanted: () -> Bool = { true }) throws(StoreError) -> Int {
        var attempts = 0
        while true {
            attempts += 1
            do throws(StoreError) { return try readOnce(isWanted) } catch {
                // Rows that went while they were to be read break the chain as damage does.
                guard error.kind == .damaged, attempts < Self.mostAttempts, isWanted() else { throw error }
                beginAnew()
            }
        }
    }

    private func beginAnew() {
        fold = Self.empty(configuration, secret, hashPrefix)
        spans = []
    }

    private func readOnce(_ isWanted: () -> Bool) throws(StoreError) -> Int {
        var rows = 0
        let position = head == 0 ? 0 : head + 1
        if isAhead {
            var isOver = false
            do throws(StoreError) {
                try store.readAhead(from: position, follows: true) { row throws(StoreError) in
                    isOver = !isWanted()
                    if isOver { throw StoreError(.unavailable, "what is left is not read") }
                    try fold.fold(row)
                    noteSpan()
                    rows += 1
                }
            } catch {
                if !isOver { throw error }
            }
            return rows
        }
        var failure: StoreError?
        try store.makeFollower().read(from: position) { row in
            do throws(StoreError) { try fold.fold(row) } catch { failure = error }
            noteSpan()
            rows += 1
            return failure == nil && isWanted()
        }
        if let failure { throw failure }
        return rows
    }

    private func noteSpan() {
        if fold.bytes.total - (spans.last?.bytes.total ?? 0) >= Self.spanBytes {
            spans.append(Span(last: fold.head, bytes: fold.bytes))
        }
    }

    /// Reads what is left now that the log is this process's, and hands over what was folded: this is empty afterwards.
    ///
    /// - Throws: when the store can't be used, or does not go on where the reading ended: then it is to be read whole.
    func recover(moved: () -> Void = {}) throws(StoreError) -> RecoveredLog {
        let open = try store.open()
        moved()
        _ = try readOn()
        moved()
        guard head == open.last, secret == open.secret else {
            throw StoreError(.damaged, "the log ends at position \(open.last), and was read up to \(head)")
        }
        var first: LogRow?
        try store.makeReader().read(from: 0) { row in
            first = row
            return false
        }
        let deletedThrough = first?.previous ?? 0
        // Of rows that were condensed meanwhile more is counted than there is, until the log is opened again.
        var bytes = fold.bytes
        if let gone = spans.last(where: { $0.last <= deletedThrough }) { bytes -= gone.bytes }
        var taken = Self.empty(configuration, secret, hashPrefix)
        swap(&taken, &fold)
        let records = taken.records
        return RecoveredLog(
            store: store, hashPrefix: hashPrefix, head: open, deletedThrough: deletedThrough, oldest: first?.first,
            bytes: bytes, records: records, fold: taken)
    }
}
