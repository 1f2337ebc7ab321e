/// The rule by which the memory that a load needed is given back: after a while without any records, as a load that
/// comes in bursts would pay for fresh memory each time.
struct MemoryRelease {
    /// Bytes appended since memory was last given back.
    private var bytes = 0
    /// Nanoseconds without any records after which memory is given back.
    var quietTime: Int64 = 5_000_000_000

    /// The appended bytes below which giving memory back is not worth it.
    private static let leastBytes = 4 << 20

    /// Whether there is memory worth giving back.
    var isWanted: Bool { bytes >= Self.leastBytes }

    /// Notes that so many bytes were appended.
    mutating func note(bytes: Int) { self.bytes += bytes }

    /// Notes that memory was given back.
    mutating func done() { bytes = 0 }
}
