import Platform
import TimerLog

/// The reader of the active log with which one replay thread works.
final class ReplayReaders {
    private let log: Published<ActiveLog?>
    /// The log that the job at hand reads; nil between two jobs, so that a log which was dropped leaves memory.
    private var current: ActiveLog?
    /// The log that `opened` reads.
    private weak var read: ActiveLog?
    private var opened: (any LogReader)?

    /// Reads the log that `log` publishes.
    init(_ log: Published<ActiveLog?>) { self.log = log }

    /// Runs `job`, which reads the log that is active now.
    func run(_ job: Replayer.Job) {
        current = log.value
        if current !== read || current == nil { (read, opened) = (current, nil) }
        job(self)
        current = nil
    }

    /// Returns the log that is read. Throws `unavailable` where this process owns none.
    func active() throws(StoreError) -> ActiveLog {
        guard let current else { throw StoreError(.unavailable, "the log is another process's") }
        return current
    }

    /// Returns the reader of the rows on disk.
    func reader() throws(StoreError) -> any LogReader {
        if let opened { return opened }
        let reader = try active().store.makeReader()
        opened = reader
        return reader
    }

    /// Returns the row that holds `position`; nil where it is gone. Rows that may be shown before they are on disk
    /// are in memory.
    func row(holding position: Int64) throws(StoreError) -> LogRow? {
        if let row = try active().hub.row(holding: position) { return row }
        return try reader().row(holding: position)
    }
}
