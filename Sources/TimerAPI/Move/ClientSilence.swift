/// The time during which a client has taken nothing of what is buffered for it. Instants are monotonic nanoseconds.
struct ClientSilence {
    /// The nanoseconds after which a client that takes nothing is cut.
    static let longest: Int64 = 60_000_000_000

    /// Bytes that were buffered after the last look, or the last writing.
    private var buffered = 0
    private var movedAt: Int64

    /// Begins with nothing buffered.
    init(at now: Int64) { movedAt = now }

    /// Compares the bytes that are buffered with those of the last look: they differ, or are none, if the client has
    /// taken some.
    mutating func look(buffered bytes: Int, at now: Int64) {
        if bytes != buffered || bytes == 0 { (buffered, movedAt) = (bytes, now) }
    }

    /// Takes note of a write after which so many bytes are buffered, since that is nothing that the client has done.
    mutating func wrote(buffered bytes: Int) { buffered = bytes }

    /// Whether the client is to be cut.
    func isTooLong(at now: Int64) -> Bool { now - movedAt > Self.longest }
}
