import Platform
public import TimerCore

/// What every clock showed at one moment; each row carries one, so that elapsed time goes on over a restart.
public struct TimeBase: Sendable, Equatable {
    /// The instant as the scheduler saw it.
    public var now: Now
    /// Nanoseconds since boot, sleep included.
    public var boottime: Int64
    /// Nanoseconds on the clock of suspending timers: uptime of the server.
    public var suspending: Int64
    /// The boot that `boottime` belongs to: 16 bytes.
    public var boot: Hash128

    /// Makes a base; see the members.
    public init(now: Now, boottime: Int64, suspending: Int64, boot: Hash128) {
        self.now = now
        self.boottime = boottime
        self.suspending = suspending
        self.boot = boot
    }
}

/// The head of a row's data: the format, the time base, how many records follow.
public struct BatchHeader: Sendable, Equatable {
    /// The format written; readers refuse a newer one.
    public static let format: UInt8 = 1
    /// Bytes of the encoded header.
    static let count = 61

    /// When the batch was closed.
    public var base: TimeBase
    /// How many records follow.
    public var records: Int

    /// Makes a header; see the members.
    public init(base: TimeBase, records: Int) {
        self.base = base
        self.records = records
    }

    func append(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(Self.format)
        for value in [base.now.elapsed, base.now.wallOffset, base.boottime, base.suspending] {
            RecordCodec.appendFixed(UInt64(bitPattern: value), count: 8, to: &bytes)
        }
        RecordCodec.appendFixed(base.boot.high, count: 8, to: &bytes)
        RecordCodec.appendFixed(base.boot.low, count: 8, to: &bytes)
        RecordCodec.appendFixed(UInt64(records), count: 8, to: &bytes)
        let checksum = CRC32C.checksum(bytes.span.extracting(start..<bytes.count))
        RecordCodec.appendFixed(UInt64(checksum), count: 4, to: &bytes)
    }

    /// Decodes the header at the start of a row's data; nil when it is damaged or of a newer format.
    public init?(_ bytes: Span<UInt8>) {
        var offset = Self.count - 4
        guard bytes.count >= Self.count, bytes[0] == Self.format,
            let stored = ByteCoding.readFixed(bytes, &offset, count: 4),
            UInt32(stored) == CRC32C.checksum(bytes.extracting(0..<Self.count - 4))
        else { return nil }
        offset = 1
        var words: [UInt64] = []
        while let word = words.count < 7 ? ByteCoding.readFixed(bytes, &offset, count: 8) : nil { words.append(word) }
        guard words[6] <= UInt64(UInt32.max) else { return nil }
        base = TimeBase(
            now: Now(elapsed: Int64(bitPattern: words[0]), wallOffset: Int64(bitPattern: words[1])),
            boottime: Int64(bitPattern: words[2]), suspending: Int64(bitPattern: words[3]),
            boot: Hash128(high: words[4], low: words[5]))
        records = Int(words[6])
    }
}
