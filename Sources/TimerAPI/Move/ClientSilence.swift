/// How long a client has taken nothing of what is buffered for it. Instants are monotonic nanoseconds.
struct ClientSilence {
    /// A client that takes nothing for longer is cut.
    static let longest: Int64 = 60_000_000_000

    /// Bytes that were buffered after the last look, or the last writing.
    private var buffered = 0
    private var movedAt: Int64

    /// Begins with nothing buffered.
    init(at now: Int64) { movedAt = now }

    /// Looks at what is buffered: as it was left, unless the client has taken some.
    mutating func look(buffered bytes: Int, at now: Int64) {
        if bytes != buffered || bytes == 0 { (buffered, movedAt) = (bytes, now) }
    }

    /// More was written, so that so many bytes are buffered: nothing that the client has done.
    mutating func wrote(buffered bytes: Int) { buffered = bytes }

    /// Whether the client is to be cut.
    func isTooLong(at now: Int64) -> Bool { now - movedAt > Self.longest }
}
