import TimerLog

/// The rows that are made and not on disk yet, and where the log ends. Confined to the committer's thread.
struct LogTail {
    /// The epoch of the writer.
    var epoch: Int64
    /// Position of the last row on disk.
    var head: Int64
    /// Rows that are not on disk, in order.
    private(set) var rows: [LogRow] = []
    /// How many of the rows were shown already.
    private var shownRows = 0
    /// The newest mark in the rows.
    private(set) var mark: HighWaterMark?
    /// Bytes of the rows' data.
    private(set) var byteCount = 0
    /// Monotonic nanoseconds by which the rows are to be on disk.
    private(set) var syncBy = Int64.max

    /// The number of bytes from which rows are written before their time.
    private static let mostBytes = 16 << 20

    /// Begins with a log that ends at `head`.
    init(_ head: StoreHead) {
        epoch = head.epoch
        self.head = head.last
    }

    /// Position of the last row, on disk or not.
    var last: Int64 { rows.last?.last ?? head }

    /// How many records the rows hold.
    var records: Int64 { rows.reduce(0) { $0 + $1.span } }

    /// Takes further rows.
    ///
    /// - Parameters:
    ///   - mark: the mark among their records.
    ///   - deadline: monotonic nanoseconds by which they are to be on disk, where they are the first.
    mutating func add(_ added: [LogRow], mark: HighWaterMark?, deadline: Int64) {
        if let mark { self.mark = mark }
        guard !added.isEmpty else { return }
        if rows.isEmpty { syncBy = deadline }
        rows += added
        byteCount += added.reduce(0) { $0 + $1.data.count }
        if byteCount >= Self.mostBytes { syncBy = 0 }
    }

    /// Whether the rows are to be written at the monotonic instant `now`.
    func isDue(at now: Int64) -> Bool { !rows.isEmpty && now >= syncBy }

    /// Returns the rows that were not shown yet, which count as shown from now on.
    mutating func takeUnshown() -> [LogRow] {
        defer { shownRows = rows.count }
        return shownRows == 0 ? rows : Array(rows[shownRows...])
    }

    /// Links the rows to a log that ends at `head` now, in its epoch; none of them was shown.
    mutating func relink(to head: StoreHead) {
        (epoch, self.head) = (head.epoch, head.last)
        if !rows.isEmpty { rows[0].previous = head.last }
        for index in rows.indices { rows[index].epoch = head.epoch }
    }

    /// Notes that the log ends at `head`, without the rows, which are on disk or lost.
    mutating func clear(head: Int64) {
        self.head = head
        rows = []
        shownRows = 0
        mark = nil
        byteCount = 0
        syncBy = .max
    }
}
