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
        let isSound = RecordCodec.decode(row.data.span, bodies[index], position: position, into: &record)
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
