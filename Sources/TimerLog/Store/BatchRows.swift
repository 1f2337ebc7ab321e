import TimerCore

/// Cuts a batch of records into rows, and reads the records of a row.
public enum BatchRows {
    /// Most bytes of a row, unless one record alone is larger.
    public static let maximumRowBytes = 256 * 1024

    /// Makes the rows of a batch: checksums filled in, each row with its header and its link to the one before.
    ///
    /// - Parameters:
    ///   - kind: the purpose of the rows.
    ///   - records: the records as `RecordCodec` wrote them, one after the other.
    ///   - first: position of the first record; the rest follow.
    ///   - previous: position of the last record of the log before.
    public static func make(
        kind: RowKind = .events, records: [UInt8], first: Int64, previous: Int64, epoch: Int64,
        base: TimeBase
    ) -> [LogRow] {
        var rows: [LogRow] = []
        var offset = 0
        var position = first
        var previous = previous
        while offset < records.count {
            var count = 0
            var end = offset
            while let body = RecordCodec.body(records.span, at: end),
                count == 0 || body.upperBound - offset <= maximumRowBytes - BatchHeader.count
            {
                end = body.upperBound
                count += 1
            }
            precondition(count > 0, "a batch is a run of whole records")
            var data: [UInt8] = []
            data.reserveCapacity(BatchHeader.count + end - offset)
            BatchHeader(base: base, kind: kind, records: count).append(to: &data)
            data.append(contentsOf: records[offset..<end])
            fillChecksums(&data)
            let last = position + Int64(count - 1)
            rows.append(LogRow(first: position, last: last, previous: previous, epoch: epoch, data: data))
            previous = last
            position = last + 1
            offset = end
        }
        return rows
    }

    /// Returns the row that replaces `rows`, adjacent rows of kicks; nil when there are none, or the header of the
    /// last is damaged.
    ///
    /// - Parameter position: records up to this position hold what the replaced ones held.
    public static func condense(_ rows: [LogRow], restingOn position: Int64) -> LogRow? {
        guard let first = rows.first, let last = rows.last, let header = BatchHeader(last.data.span) else { return nil }
        var data: [UInt8] = []
        BatchHeader(base: header.base, kind: .condensed, records: 1).append(to: &data)
        RecordCodec.appendCondensed(restingOn: position, at: header.base.now.wall, to: &data)
        fillChecksums(&data)
        return LogRow(first: first.first, last: last.last, previous: first.previous, epoch: last.epoch, data: data)
    }

    /// Returns the data of a row that begins an epoch, which are the same at every position.
    public static func barrier() -> [UInt8] {
        var data: [UInt8] = []
        let clocks = Now(elapsed: 0, wallOffset: 0)
        BatchHeader(
            base: TimeBase(now: clocks, boottime: 0, boot: Hash128(high: 0, low: 0)), kind: .barrier, records: 1
        ).append(to: &data)
        RecordCodec.appendVersionFloor(0, at: 0, to: &data)
        fillChecksums(&data)
        return data
    }

    private static func fillChecksums(_ data: inout [UInt8]) {
        var offset = BatchHeader.count
        while let body = RecordCodec.body(data.span, at: offset) {
            let checksum = RecordCodec.checksum(data.span, body)
            for index in 0..<4 {
                data[body.lowerBound - 4 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index))
            }
            offset = body.upperBound
        }
    }

    /// Passes the records of a row to `body`, in order, until `body` returns false.
    ///
    /// - Throws: `damaged` when a checksum, a length or the count of records is wrong, `unusable` for a newer
    ///   format.
    @discardableResult
    public static func read(
        _ row: LogRow, _ body: (LogRecord) throws(StoreError) -> Bool
    ) throws(StoreError) -> BatchHeader {
        try walk(row) { (bytes, range, position) throws(StoreError) in
            var record = LogRecord(position: position)
            guard RecordCodec.decode(bytes, range, into: &record) else { throw damaged(position) }
            return try body(record)
        }
    }

    /// Appends the records of a row to `records`, up to the first that is damaged. Each is decoded where it stays: a
    /// recovery has millions of them.
    ///
    /// - Throws: like `read`.
    static func read(_ row: LogRow, into records: inout [LogRecord]) throws(StoreError) -> BatchHeader {
        try walk(row) { (bytes, range, position) throws(StoreError) in
            records.append(LogRecord(position: position))
            if RecordCodec.decode(bytes, range, into: &records[records.count - 1]) { return true }
            records.removeLast()
            throw damaged(position)
        }
    }

    private static func damaged(_ position: Int64) -> StoreError {
        StoreError(.damaged, "the record at position \(position) is damaged")
    }

    /// Passes the range and the position of each record of a row to `body`, in order, until `body` returns false.
    private static func walk(
        _ row: LogRow, _ body: (Span<UInt8>, Range<Int>, Int64) throws(StoreError) -> Bool
    ) throws(StoreError) -> BatchHeader {
        let bytes = row.data.span
        if let format = BatchHeader.newerFormat(bytes) {
            let what = "the row at position \(row.first) has format \(format), written by a newer timerd"
            throw StoreError(.unusable, "\(what); this one reads up to \(BatchHeader.format)")
        }
        guard let header = BatchHeader(bytes), row.first > 0, row.last >= row.first,
            header.kind == .condensed
                ? header.records == 1 : row.last - row.first == Int64(header.records - 1)
        else {
            throw StoreError(.damaged, "the row at position \(row.first) has a damaged or newer head")
        }
        var offset = BatchHeader.count
        for index in 0..<header.records {
            let position = row.first + Int64(index)
            guard let range = RecordCodec.body(bytes, at: offset) else { throw damaged(position) }
            guard try body(bytes, range, position) else { return header }
            offset = range.upperBound
        }
        guard offset == bytes.count else {
            throw StoreError(.damaged, "the row at position \(row.first) has bytes after its last record")
        }
        return header
    }
}

/// A row whose records can be read in any order.
public struct RowRecords: Sendable {
    /// The row.
    public let row: LogRow
    private let bodies: [Range<Int>]

    /// Finds the records of `row`.
    public init(_ row: LogRow) {
        self.row = row
        var bodies: [Range<Int>] = []
        if let header = BatchHeader(row.data.span), header.kind != .condensed {
            bodies.reserveCapacity(header.records)
            var offset = BatchHeader.count
            while bodies.count < header.records, let body = RecordCodec.body(row.data.span, at: offset) {
                bodies.append(body)
                offset = body.upperBound
            }
        }
        self.bodies = bodies
    }

    /// Returns the record at `position`; nil when it is not in this row, or damaged.
    public func record(at position: Int64) -> LogRecord? {
        guard let index = row.index(of: position), index < bodies.count else { return nil }
        var record = LogRecord(position: position)
        let isSound = RecordCodec.decode(row.data.span, bodies[index], into: &record)
        return isSound ? record : nil
    }

    /// Whether the record at `position` would be in this row.
    public func holds(_ position: Int64) -> Bool { row.index(of: position) != nil }

    /// Returns the answer, or the part of one, whose record is at `position`; nil when there is none.
    public func answer(at position: Int64) -> StoredAnswer? {
        guard case .answer(let answer)? = record(at: position)?.content else { return nil }
        return answer
    }
}
