/// How the bytes that events are kept for are shared: all partitions of the process keep them from one instant on, the oldest
/// at which their sum fits.
enum EventRetention {
    /// The instant, in wall milliseconds, before which rows are outside, as far as the rows read ahead tell; `Int64.min` where
    /// all fit. Where more has to go than was read ahead, some boundary has no rows ahead once all have moved there: it looks
    /// again, and the instant is found anew.
    ///
    /// - Parameter excess: bytes of events that have to go.
    static func oldestKept(_ boundaries: [EventBoundary], excess: Int) -> Int64 {
        let ahead = boundaries.compactMap(\.closedAhead)
        // Behind a partition's last row ahead there may be older ones than the others have.
        guard excess > 0, var low = ahead.map(\.lowerBound).min(), var high = ahead.map(\.upperBound).min() else {
            return .min
        }
        while low < high {
            let middle = low + (high - low) / 2
            let going = boundaries.reduce(0) { $0 + $1.bytes(before: middle + 1) }
            if going >= excess { high = middle } else { low = middle + 1 }
        }
        return low + 1
    }
}
