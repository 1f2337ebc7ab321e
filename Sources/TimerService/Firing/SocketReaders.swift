/// Has the loops read their sockets after a gap, before a watchdog is judged: kicks that came while the process stood
/// still are in there.
///
/// A gap is a time in which no thread read the clocks. The process may have stood still or had nothing to do; these look
/// alike, so either makes the loops read once, when something is due.
struct SocketReaders {
    /// A gap over this, in nanoseconds, may have left kicks in sockets.
    static let longestGap: Int64 = 100_000_000
    /// A loop that has not answered for so long, in nanoseconds, is waited for no longer.
    static let patience: Int64 = 1_000_000_000

    private var readers: [SocketReader] = []
    /// Whether there was a gap since the loops were asked; a process begins with one.
    private var hadGap = true
    /// Elapsed nanoseconds when the loops were asked, while their answers are awaited.
    private var askedAt: Int64?

    mutating func add(_ reader: SocketReader) { readers.append(reader) }

    /// Notes that no thread read the clocks for `nanoseconds`.
    mutating func note(gap nanoseconds: Int64) { if nanoseconds > Self.longestGap { hadGap = true } }

    /// Whether watchdogs may be judged now, without asking the loops.
    var areRead: Bool { !hadGap && askedAt == nil }

    /// Whether watchdogs may be judged at `elapsed`; asks the loops where there was a gap.
    mutating func read(at elapsed: Int64) -> Bool {
        if hadGap {
            hadGap = false
            askedAt = elapsed
            for reader in readers { reader.askOnceMore() }
        }
        guard let start = askedAt else { return true }
        guard elapsed - start > Self.patience || readers.allSatisfy(\.hasAnswered) else { return false }
        askedAt = nil
        return true
    }
}
