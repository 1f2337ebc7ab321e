/// Some rows of a log that follow each other.
public struct LogPortion: Sendable, Equatable {
    /// The rows, oldest first.
    public var rows: [LogRow]
    /// Whether the log had no further row behind them.
    public var endsLog: Bool

    /// Makes a portion; see the members.
    public init(rows: [LogRow], endsLog: Bool) {
        self.rows = rows
        self.endsLog = endsLog
    }
}
