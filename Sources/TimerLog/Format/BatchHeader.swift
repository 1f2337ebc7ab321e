import Platform
public import TimerCore

/// The head of a row's data: the format, the time base, the purpose of the row and the number of its records.
public struct BatchHeader: Sendable, Equatable {
    /// The format that is written. Readers accept it and every older one, and refuse a newer one. The layout of a
    /// record depends on that record alone, as compaction copies records of older rows into new ones.
    public static let format: UInt8 = 5
    /// The bytes of the encoded header.
    static let count = 61

    /// The time base at which the batch was closed.
    public var base: TimeBase
    /// The purpose of the row.
    public var kind: RowKind
    /// The number of records that follow.
    public var records: Int

    /// Makes a header; see the members.
    public init(base: TimeBase, kind: RowKind = .events, records: Int) {
        self.base = base
        self.kind = kind
        self.records = records
    }

    /// Returns the purpose of `row`; nil when its header is damaged or of a newer format.
    public static func kind(of row: LogRow) -> RowKind? { BatchHeader(row.data.span)?.kind }

    /// Returns the row's format if it is newer than this version's and the header is sound where this version's
    /// would be; else nil.
    static func newerFormat(_ bytes: Span<UInt8>) -> UInt8? {
        guard bytes.count >= count, bytes[0] > format, isWhole(bytes) else { return nil }
        return bytes[0]
    }

    private static func isWhole(_ bytes: Span<UInt8>) -> Bool {
        var offset = count - 4
        guard let stored = ByteCoding.readFixed(bytes, &offset, count: 4) else { return false }
        return UInt32(stored) == CRC32C.checksum(bytes.extracting(0..<count - 4))
    }

    func append(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(Self.format)
        for value in [base.now.elapsed, base.now.wallOffset, base.boottime, base.now.downtime] {
            RecordCodec.appendFixed(UInt64(bitPattern: value), count: 8, to: &bytes)
        }
        RecordCodec.appendFixed(base.boot.high, count: 8, to: &bytes)
        RecordCodec.appendFixed(base.boot.low, count: 8, to: &bytes)
        RecordCodec.appendFixed(UInt64(records) | UInt64(kind.rawValue) << 32, count: 8, to: &bytes)
        let checksum = CRC32C.checksum(bytes.span.extracting(start..<bytes.count))
        RecordCodec.appendFixed(UInt64(checksum), count: 4, to: &bytes)
    }

    /// Decodes the header at the start of a row's data; nil when it is damaged or of a newer format.
    public init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.count, (1...Self.format).contains(bytes[0]), Self.isWhole(bytes) else { return nil }
        var offset = 1
        var words = InlineArray<7, UInt64>(repeating: 0)
        for index in words.indices { words[index] = ByteCoding.readFixed(bytes, &offset, count: 8) ?? 0 }
        guard let kind = UInt8(exactly: words[6] >> 32).flatMap(RowKind.init(rawValue:)) else { return nil }
        base = TimeBase(
            now: Now(
                elapsed: Int64(bitPattern: words[0]), wallOffset: Int64(bitPattern: words[1]),
                downtime: Int64(bitPattern: words[3])),
            boottime: Int64(bitPattern: words[2]), boot: Hash128(high: words[4], low: words[5]))
        self.kind = kind
        records = Int(words[6] & 0xFFFF_FFFF)
    }
}

/// The purpose of a row.
public enum RowKind: UInt8, Sendable {
    /// Events, and the records that are kept with them.
    case events = 0
    /// Kicks of watchdogs, which no stream shows: the row is condensed once later records replace each of them.
    case kicks = 1
    /// The place of removed rows of kicks: one record that says so, whatever positions the row spans.
    case condensed = 2
    /// The beginning of an epoch: one record, a floor of versions of 0. Nothing else of the row counts: its time
    /// base is empty, and it is never condensed.
    case barrier = 3
}

/// The readings of every clock at one moment; each row carries one, so that elapsed time goes on over a restart.
public struct TimeBase: Sendable, Equatable {
    /// The instant as the scheduler saw it.
    public var now: Now
    /// Nanoseconds since boot, sleep included.
    public var boottime: Int64
    /// The boot to which `boottime` belongs: 16 bytes.
    public var boot: Hash128

    /// Makes a base; see the members.
    public init(now: Now, boottime: Int64, boot: Hash128) {
        self.now = now
        self.boottime = boottime
        self.boot = boot
    }
}
