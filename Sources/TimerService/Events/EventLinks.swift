import TimerLog

/// Which position each record of a row names as its timer's event before: read once, however many are asked for.
struct EventLinks {
    private var row: LogRow?
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
        self.row = row
        self.previous = previous
    }

    /// Whether the record at `position` is in the row.
    func holds(_ position: Int64) -> Bool {
        row?.index(of: position).map { $0 < previous.count } ?? false
    }

    /// The position that the record at `position`, which is in the row, names.
    func previous(of position: Int64) -> Int64 { row?.index(of: position).map { previous[$0] } ?? 0 }
}
