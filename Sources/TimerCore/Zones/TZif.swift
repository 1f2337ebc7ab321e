// Time zones as /usr/share/zoneinfo holds them.
extension TimeZoneTable {
    /// Reads a TZif file (RFC 9636, versions 1 to 4).
    ///
    /// Returns nil for bytes that are not TZif, for files over ``tzifLimit``, and for those that count leap seconds
    /// ("right/" zones), on which a day has not always 86,400 seconds.
    public init?(tzif bytes: Span<UInt8>) {
        guard bytes.count <= Self.tzifLimit, let first = TZifBlock(bytes, at: 0) else { return nil }
        var block = first
        var rule: [UInt8] = []
        if first.version > 0 {
            // The first block counts in 32 bits, for old programs; the second is complete.
            guard let second = TZifBlock(bytes, at: first.end), second.version > 0 else { return nil }
            block = second
            guard second.end < bytes.count, bytes[second.end] == UInt8(ascii: "\n") else { return nil }
            var position = second.end + 1
            while position < bytes.count, bytes[position] != UInt8(ascii: "\n") {
                rule.append(bytes[position])
                position += 1
            }
            guard position < bytes.count, rule.isEmpty || PosixZone(rule) != nil else { return nil }
        }
        guard block.leapSeconds == 0, let (initial, changes) = block.changes(in: bytes) else { return nil }
        self.init(initialOffset: initial, changes: changes, rule: rule)
    }

    /// The most bytes of a file; the largest of a real zone has about 4 KB.
    public static let tzifLimit = 65_536

    /// Makes the table of these transitions and, after the last of them, those of a rule.
    ///
    /// - Parameter rule: the rule as POSIX writes it; empty for none.
    init(initialOffset: Int32, changes: [(instant: Int64, offset: Int32)], rule: [UInt8]) {
        // The end of the year 9999: what comes later is never asked for.
        let horizon: Int64 = 253_402_300_800
        let last = changes.last?.instant
        guard let footer = PosixZone(rule), (last ?? 0) < horizon else {
            self.init(initialOffset: initialOffset, changes: changes)
            return
        }
        // Without transitions the rule alone holds; otherwise it repeats the offset of the last one.
        let initial = last == nil ? footer.standard : initialOffset
        guard footer.daylight != nil else {
            self.init(initialOffset: initial, changes: changes)
            return
        }
        // From the year of the last transition on, or from the year 1 when there is none.
        let start = max(last ?? -62_135_596_800, -62_135_596_800)
        let year = CivilMonth(holding: floorDivide(start, CronExpression.day)).year
        // The rule of a year reaches at most nine days into the next, so the third year is one like all that follow.
        let cycleStart = CivilMonth(year: year + 2, month: 1).firstDay * CronExpression.day
        let ruled = footer.changes(years: year - 1...year + 402).filter {
            $0.instant > last ?? .min && $0.instant < cycleStart + Self.cycle
        }
        self.init(
            initialOffset: initial, changes: changes + ruled, cycleStart: cycleStart, rule: rule,
            listedCount: changes.count)
    }
}

/// A header of a TZif file, and the place of the data after it. The lengths in the header fit into the file.
private struct TZifBlock {
    private static let headerLength = 44
    let version: UInt8
    let leapSeconds: Int
    /// The offset in the file at which the block ends.
    let end: Int
    private let data: Int
    private let timeSize: Int
    private let transitions: Int
    private let types: Int

    init?(_ bytes: Span<UInt8>, at start: Int) {
        guard start + Self.headerLength <= bytes.count else { return nil }
        for (index, byte) in "TZif".utf8.enumerated() where bytes[start + index] != byte { return nil }
        let version = bytes[start + 4]
        guard version == 0 || (UInt8(ascii: "2")...UInt8(ascii: "4")).contains(version) else { return nil }
        self.version = version
        func count(_ index: Int) -> Int { Int(bytes.bigEndian(at: start + 20 + index * 4, size: 4)) & 0xFFFF_FFFF }
        let (universal, standard, leaps) = (count(0), count(1), count(2))
        let (transitions, types, characters) = (count(3), count(4), count(5))
        guard types > 0, types <= 256 else { return nil }
        self.transitions = transitions
        self.types = types
        leapSeconds = leaps
        data = start + Self.headerLength
        timeSize = start == 0 ? 4 : 8
        // Each count is below 2^32, so the sum can't overflow.
        let length = transitions * (timeSize + 1) + types * 6 + characters + leaps * (timeSize + 4)
        end = data + length + standard + universal
        guard end <= bytes.count else { return nil }
    }

    /// Returns the offset before the first transition, and the transitions; nil if they contradict the format.
    func changes(in bytes: Span<UInt8>) -> (Int32, [(instant: Int64, offset: Int32)])? {
        let typeIndexes = data + transitions * timeSize
        let typeRecords = typeIndexes + transitions
        func offset(ofType type: Int) -> Int32? {
            guard type < types else { return nil }
            let offset = bytes.bigEndian(at: typeRecords + type * 6, size: 4)
            return TimeZoneTable.offsets.contains(offset) ? Int32(offset) : nil
        }
        guard let initial = offset(ofType: 0) else { return nil }
        var changes: [(instant: Int64, offset: Int32)] = []
        changes.reserveCapacity(transitions)
        var last = -TimeZoneTable.farthest
        for index in 0..<transitions {
            let instant = bytes.bigEndian(at: data + index * timeSize, size: timeSize)
            guard instant > last || index == 0 && instant == last, instant < TimeZoneTable.farthest else { return nil }
            guard let offset = offset(ofType: Int(bytes[typeIndexes + index])) else { return nil }
            changes.append((instant, offset))
            last = instant
        }
        return (initial, changes)
    }
}

extension Span<UInt8> {
    /// Reads a signed number of 4 or 8 bytes, the highest first.
    fileprivate func bigEndian(at start: Int, size: Int) -> Int64 {
        var value: UInt64 = 0
        for index in start..<start + size { value = value << 8 | UInt64(self[index]) }
        return size == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(truncatingIfNeeded: value)
    }
}
