import TimerLog

/// The links of a row's records, each to its timer's previous event. The row is read once, however many are asked for.
struct EventLinks {
    private var row: LogRow?
    private var previous: [Int64] = []

    /// Makes the links of no row.
    init() {}

    /// Reads the links of the records of `row`.
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

    /// Returns the position of the previous event, as the record at `position`, which is in the row, names it.
    func previous(of position: Int64) -> Int64 { row?.index(of: position).map { previous[$0] } ?? 0 }
}
