/// The bounds of requests, answers and steps.
enum APILimits {
    static let bodyBytes = 256 * 1024
    static let batchBytes = 16 << 20
    static let batchLines = 10_000
    /// The bytes of capacity above which a buffer is released after an answer; each connection keeps
    /// a few buffers of that size.
    static let keptBytes = 16 * 1024
    /// Bytes of its writer's memory that a loop keeps after an answer.
    static let scratchBytes = 64 * 1024
    static let payloadBytes = 64 * 1024
    static let labels = 16
    static let labelKeyBytes = 63
    static let labelValueBytes = 255
    static let keyBytes = 128
    static let requestIDBytes = 128
    static let listDefault = 100
    static let listMaximum = 1000
    static let dueBuckets = 1000
    static let dueBucketsDefault = 60
    static let previewDefault = 10
    static let previewMaximum = 1000
    /// Deliveries whose events are read from the store at once.
    static let readAtOnce = 128
    /// The entries that a list examines for one page before it returns a short one.
    static let examinedPerPage = 20_000
    /// The timers that a list examines for one page where it filters by a prefix of the id.
    static let examinedForPrefix = 10_000
    /// The entries that a list or a bulk command examines in one hold of the lock.
    static let examinedPerStep = 128
    /// Lines of a batch, or timers of a bulk command, applied in one hold of the lock.
    static let appliedPerStep = 64
    /// Bytes of a batch's lines that are read for one hold of the lock, and of timers that are copied in it.
    static let bytesPerStep = 128 * 1024
    /// Nanoseconds after which no further lines of a batch are read for one hold of the lock: a recurrence rule may take two
    /// milliseconds.
    static let readingPerStep: Int64 = 1_000_000
    /// Bytes of a batch's answer that may be lines with a whole timer; further lines are brief.
    static let wholeResultBytes = 8 << 20
    /// Bytes of JSON after which a page ends.
    static let pageBytes = 4 << 20
    /// An approximate upper bound on the bytes of a timer's JSON.
    static let timerBytes = 128 * 1024
    /// The approximate bytes of a brief result line.
    static let briefResultBytes = 128
    /// The approximate bytes of a timer's JSON that its client did not set.
    static let shownBytes = 700
    /// The nanoseconds that an answer waits for the disk before the client is told that the outcome is unknown.
    static let longestCommit: Int64 = 5_000_000_000
    /// The nanoseconds that a command waits while too many records wait for the disk.
    static let longestOverload: Int64 = 2_000_000_000
}
