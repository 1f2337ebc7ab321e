import TimerLog

/// Which position each record of a row names as its timer's event before: read once, however many are asked for.
struct EventLinks {
    private var first: Int64 = 0
    private var previous: [Int64] = []

    /// Of no row.
    init() {}

    /// Of the records of `row`.
    init(_ row: LogRow) throws(StoreError) {
        var previous: [Int64] = []
        try BatchRows.read(row) { record in
            previous.append(record.previous)
            return true
        }
        first = row.first
        self.previous = previous
    }

    /// Whether the record at `position` is in the row.
    func holds(_ position: Int64) -> Bool { position >= first && position - first < Int64(previous.count) }

    /// The position that the record at `position`, which is in the row, names.
    func previous(of position: Int64) -> Int64 { previous[Int(position - first)] }
}
