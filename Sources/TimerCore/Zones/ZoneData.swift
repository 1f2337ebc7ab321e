import Primitives

/// The offsets of a time zone from an instant on, as a log keeps them: a later start, which may find other data on its
/// machine, knows by them what was planned.
public struct ZoneData: Sendable, Equatable {
    /// The offsets:
    ///
    /// ```
    /// from      the instant from which they hold, signed; the offset then, signed
    /// changes   their number; for each the distance from the instant before, and the offset from then on, signed
    /// rule      the rule after the last change, as POSIX writes it, after its length; empty for none
    /// ```
    ///
    /// Instants and offsets are seconds, all numbers varints.
    public let bytes: [UInt8]
    private let from: Int64

    /// The most changes of a zone; a file of the longest legal size has fewer.
    private static let mostChanges: UInt64 = 8192

    /// Makes the data of a zone, from a year before an instant on: a clock may be set back.
    ///
    /// - Parameter wall: the instant, in wall milliseconds.
    public init(_ zone: TimeZoneTable, around wall: Int64) {
        self.init(zone, from: floorDivide(wall, 1000) - 366 * CronExpression.day)
    }

    private init(_ zone: TimeZoneTable, from: Int64) {
        var bytes: [UInt8] = []
        ByteCoding.append(signed: from, to: &bytes)
        ByteCoding.append(signed: zone.offset(at: from), to: &bytes)
        let changes = zone.listed(after: from)
        ByteCoding.append(UInt64(changes.count), to: &bytes)
        var last = from
        for change in changes {
            ByteCoding.append(UInt64(change.instant - last), to: &bytes)
            ByteCoding.append(signed: Int64(change.offset), to: &bytes)
            last = change.instant
        }
        ByteCoding.append(run: zone.rule, to: &bytes)
        self.bytes = bytes
        self.from = from
    }

    /// Reads data of the log; nil unless they are whole.
    public init?(decoding bytes: [UInt8]) {
        guard let parts = Self.parts(of: bytes) else { return nil }
        self.bytes = bytes
        from = parts.from
    }

    /// Whether they are those of `zone`.
    public func isData(of zone: TimeZoneTable) -> Bool { self == ZoneData(zone, from: from) }

    /// The zone, which before `from` has the offset that it has then.
    var table: TimeZoneTable {
        guard let table = Self.parts(of: bytes)?.table else { preconditionFailure("the bytes were made, or checked") }
        return table
    }

    private static func parts(of bytes: [UInt8]) -> (from: Int64, table: TimeZoneTable)? {
        let span = bytes.span
        var offset = 0
        guard let from = readInstant(span, &offset), let initial = readOffset(span, &offset),
            let count = ByteCoding.read(span, &offset), count <= mostChanges
        else { return nil }
        var changes = [(instant: from, offset: initial)]
        for _ in 0..<count {
            guard let distance = ByteCoding.read(span, &offset), distance > 0,
                distance <= UInt64(TimeZoneTable.farthest), let zoneOffset = readOffset(span, &offset)
            else { return nil }
            let instant = changes[changes.count - 1].instant + Int64(distance)
            guard instant < TimeZoneTable.farthest else { return nil }
            changes.append((instant, zoneOffset))
        }
        guard let rule = ByteCoding.readRun(span, &offset), offset == bytes.count,
            rule.isEmpty || PosixZone(rule) != nil
        else { return nil }
        return (from, TimeZoneTable(initialOffset: initial, changes: changes, rule: rule))
    }

    private static func readInstant(_ bytes: Span<UInt8>, _ offset: inout Int) -> Int64? {
        ByteCoding.readSigned(bytes, &offset).flatMap { $0.magnitude < TimeZoneTable.farthest ? $0 : nil }
    }

    private static func readOffset(_ bytes: Span<UInt8>, _ offset: inout Int) -> Int32? {
        ByteCoding.readSigned(bytes, &offset).flatMap { TimeZoneTable.offsets.contains($0) ? Int32($0) : nil }
    }
}
