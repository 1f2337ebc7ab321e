import Platform
import TimerLog

/// What one replay thread reads with: a reader of the active log.
final class ReplayReaders {
    private let log: Published<ActiveLog?>
    /// The log that the job at hand reads; nil between two jobs, so that a log which was dropped leaves memory.
    private var current: ActiveLog?
    /// The log that the reader is of.
    private weak var read: ActiveLog?
    private var opened: (any LogReader)?

    /// Reads the log in `log`.
    init(_ log: Published<ActiveLog?>) { self.log = log }

    /// Runs `job`, which reads the log that is active now.
    func run(_ job: Replayer.Job) {
        current = log.value
        if current !== read || current == nil { (read, opened) = (current, nil) }
        job(self)
        current = nil
    }

    /// The log that is read. Throws `unavailable` where this process owns none.
    func active() throws(StoreError) -> ActiveLog {
        guard let current else { throw StoreError(.unavailable, "the log is another process's") }
        return current
    }

    /// The reader of what is on disk.
    func reader() throws(StoreError) -> any LogReader {
        if let opened { return opened }
        let reader = try active().store.makeReader()
        opened = reader
        return reader
    }

    /// The row that holds `position`: what may be shown and is not on disk yet is in memory. Nil where it is gone.
    func row(holding position: Int64) throws(StoreError) -> LogRow? {
        if let row = try active().hub.row(holding: position) { return row }
        return try reader().row(holding: position)
    }
}
