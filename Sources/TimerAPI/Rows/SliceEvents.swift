import TimerService

/// The events of a part of a row, which is decoded once however many parts it has.
struct SliceEvents {
    let row: RowEvents
    /// The indices of its events in the row.
    let indices: Range<Int>
    /// Position up to which the part goes.
    let last: Int64

    /// The part of `row` that `slice` is.
    init(_ slice: RowSlice, of row: RowEvents) {
        self.row = row
        last = slice.last
        if slice.isWhole {
            indices = row.events.indices
        } else {
            let begin = row.index(after: slice.first - 1)
            indices = begin..<max(begin, row.index(after: slice.last))
        }
    }
}
