import TimerLog

/// Puts the rows of several partitions into one order, that of ids: one slice after the other, each cut where a record of
/// another partition comes first, or may still come.
///
/// It reads nothing: its owner tells what each partition has behind the merge's position.
struct SliceMerge {
    /// What one partition has behind the merge's position.
    enum Head: Sendable, Equatable {
        /// The first row that ends behind it.
        case row(LogRow)
        /// No row so far, and no record up to `through` ever.
        case none(through: Int64)
    }

    /// How the partitions' positions lie.
    let layout: PartitionLayout
    /// The partitions' numbers.
    let numbers: [Int]
    /// What each has, in the order of `numbers`.
    private(set) var heads: [Head]
    /// Everything up to here was taken.
    private(set) var position: Int64
    /// Nothing behind this position is taken.
    let end: Int64
    /// The `previous` of the next slice.
    var previous: Int64

    /// Begins behind `position`, where nothing is known of any partition.
    init(_ layout: PartitionLayout, numbers: [Int], after position: Int64, end: Int64 = .max) {
        self.layout = layout
        self.numbers = numbers
        self.position = position
        self.end = end
        previous = position
        heads = [Head](repeating: .none(through: position), count: numbers.count)
    }

    /// A slice that was taken.
    struct Taken: Equatable {
        var slice: RowSlice
        /// Index of its partition.
        var index: Int
        /// Whether the row is over: its partition's head has to be told anew.
        var endsRow: Bool
    }

    /// Notes what the partition at `index` has.
    mutating func set(_ index: Int, _ head: Head) { heads[index] = head }

    /// Position up to which the partition at `index` has nothing.
    private func frontier(_ index: Int) -> Int64 {
        switch heads[index] {
        case .row(let row): max(row.first, layout.position(after: position, in: numbers[index])) - 1
        case .none(let through): through
        }
    }

    /// Position up to which no partition has anything that was not taken.
    var watermark: Int64 { heads.indices.reduce(end) { min($0, frontier($1)) } }

    /// The row that begins first behind the merge's position; nil where no partition has one.
    var nextRow: LogRow? {
        var least = Int64.max
        var next: LogRow?
        for (index, head) in heads.enumerated() {
            guard case .row(let row) = head, frontier(index) < least else { continue }
            (least, next) = (frontier(index), row)
        }
        return next
    }

    /// Takes the next slice; nil where a partition that has no row may still have an earlier record.
    mutating func take() -> Taken? {
        // The partition with the next record, and up to where the others have none.
        var (least, limit, next) = (Int64.max, end, -1)
        for index in heads.indices {
            let frontier = frontier(index)
            if frontier < least {
                if next >= 0 { limit = min(limit, least) }
                (least, next) = (frontier, index)
            } else {
                limit = min(limit, frontier)
            }
        }
        guard next >= 0, case .row(let row) = heads[next], least < limit else { return nil }
        let last = min(row.last, layout.position(atOrBefore: limit, in: numbers[next]))
        let slice = RowSlice(row, first: least + 1, last: last, previous: previous)
        position = last
        previous = last
        return Taken(slice: slice, index: next, endsRow: last == row.last)
    }
}
