import TimerCore

/// What the logs of all partitions hold together.
struct LogSum {
    private(set) var rows = 0
    private(set) var records = 0
    private(set) var bytes = 0
    private(set) var answers = 0
    /// Position of the first record of all; nil where all logs are empty.
    private(set) var first: Int64?
    /// Position of the last good record of all.
    private(set) var last: Int64 = 0
    /// Timers by state, in the order of states.
    private(set) var timers = [Int](repeating: 0, count: TimerState.allCases.count)

    mutating func add(_ scan: consuming LogScan) {
        rows += scan.rows
        records += scan.records
        bytes += scan.bytes
        answers += scan.answers
        if let first = scan.first { self.first = min(self.first ?? .max, first) }
        last = max(last, scan.last)
        for (index, one) in scan.timers().enumerated() { timers[index] += one.count }
    }
}
