/// Has the loops read their sockets after a silence, before a watchdog is judged: kicks that came while the process stood
/// still wait there.
///
/// A silence is a time in which nobody read the clocks. Whether the process stood still or had nothing to do can't be
/// told, so that either makes the loops read once, when something is due.
struct SocketReaders {
    /// A silence over this, in nanoseconds, may have left kicks in sockets.
    static let longestSilence: Int64 = 100_000_000
    /// A loop that does not answer for so long, in nanoseconds, holds nothing up any more.
    static let patience: Int64 = 1_000_000_000

    private var readers: [SocketReader] = []
    /// Whether there was a silence since the loops were asked; a process begins with one.
    private var wasSilent = true
    /// Elapsed nanoseconds when the loops were asked whose answers are awaited.
    private var askedAt: Int64?

    mutating func add(_ reader: SocketReader) { readers.append(reader) }

    /// Notes that nobody read the clocks for `nanoseconds`.
    mutating func note(silence nanoseconds: Int64) { if nanoseconds > Self.longestSilence { wasSilent = true } }

    /// Whether watchdogs may be judged now, without a question to anybody.
    var areRead: Bool { !wasSilent && askedAt == nil }

    /// Whether watchdogs may be judged at `elapsed`; asks the loops where there was a silence.
    mutating func read(at elapsed: Int64) -> Bool {
        if wasSilent {
            wasSilent = false
            askedAt = elapsed
            for reader in readers { reader.askOnceMore() }
        }
        guard let start = askedAt else { return true }
        guard elapsed - start > Self.patience || readers.allSatisfy(\.hasAnswered) else { return false }
        askedAt = nil
        return true
    }
}
