public import TimerLog

/// What an owner tells of one of its partitions.
///
/// A fact once told stays true, whoever owns the partition later: rows are told once they are durable, and an owner's promises
/// bind those who take the partition from it. So facts may come twice, and from several owners.
public enum FeedFact: Sendable, Equatable {
    /// The partition's records behind `after`, up to `through`, are those of `rows`: every one, and no other will come.
    case rows(partition: Int, after: Int64, through: Int64, [LogRow])
    /// Rows behind the follower's place are no longer in the owner's memory. All up to `head` are durable, in the store, and no
    /// other will come before it.
    case behind(partition: Int, head: Int64)
    /// Events of the partition up to `horizon` are no longer kept, and `oldest` is the first that its log held when the owner
    /// began.
    case kept(partition: Int, horizon: Int64, oldest: Int64)
    /// Another process owns the partition, or none. Once this one owns it, it tells more.
    case elsewhere(partition: Int)

    /// The number of its partition.
    public var partition: Int {
        switch self {
        case .rows(let partition, _, _, _), .behind(let partition, _), .kept(let partition, _, _),
            .elsewhere(let partition):
            partition
        }
    }

    /// Bytes of a row beside its data.
    static let rowHeadBytes = 36
    /// Bytes of the longest row's data: a row is longer than `BatchRows.maximumRowBytes` only where one record is.
    static let maximumRowBytes = 16 << 20

    /// Appends its kind and its fields.
    func append(to writer: inout FrameWriter) {
        switch self {
        case .rows(let partition, let after, let through, let rows):
            writer.append(UInt8(1))
            writer.append(partition: partition)
            writer.append(after)
            writer.append(through)
            writer.append(count: rows.count)
            for row in rows {
                writer.append(row.first)
                writer.append(row.last)
                writer.append(row.previous)
                writer.append(row.epoch)
                writer.append(count: row.data.count)
                writer.append(row.data)
            }
        case .behind(let partition, let head):
            writer.append(UInt8(2))
            writer.append(partition: partition)
            writer.append(head)
        case .elsewhere(let partition):
            writer.append(UInt8(3))
            writer.append(partition: partition)
        case .kept(let partition, let horizon, let oldest):
            writer.append(UInt8(4))
            writer.append(partition: partition)
            writer.append(horizon)
            writer.append(oldest)
        }
    }

    /// Reads a fact about a partition of `layout`.
    init(_ reader: inout FrameReader, _ layout: PartitionLayout) throws(FrameError) {
        let kind = try reader.integer(UInt8.self)
        guard (1...4).contains(kind) else { throw .unknownKind(kind) }
        let partition = try reader.partition(below: layout.count)
        switch kind {
        case 1:
            let (after, through) = (try reader.position(), try reader.position())
            guard after <= through else { throw .outOfRange }
            var rows: [LogRow] = []
            var end = after
            for _ in 0..<(try reader.count(atMost: FeedFrame.mostRows)) {
                let row = try Self.row(&reader, PartitionPlace(partition, of: layout), behind: end)
                guard row.last <= through else { throw .outOfRange }
                end = row.last
                rows.append(row)
            }
            self = .rows(partition: partition, after: after, through: through, rows)
        case 2: self = .behind(partition: partition, head: try reader.position())
        case 4:
            self = .kept(partition: partition, horizon: try reader.position(), oldest: try reader.position())
        default: self = .elsewhere(partition: partition)
        }
    }

    /// Reads a row that begins behind `end`.
    private static func row(
        _ reader: inout FrameReader, _ place: PartitionPlace, behind end: Int64
    ) throws(FrameError) -> LogRow {
        let (first, last) = (try reader.position(), try reader.position())
        let previous = try reader.integer(Int64.self)
        let epoch = try reader.position()
        let data = try reader.take(reader.count(atMost: maximumRowBytes))
        let (layout, number) = (place.layout, place.number)
        guard layout.partition(ofPosition: first) == number, layout.partition(ofPosition: last) == number,
            first <= last, previous >= -1, previous < first
        else { throw .outOfRange }
        guard first > end else { throw .disordered }
        let row = LogRow(
            first: first, last: last, previous: previous, partition: Int32(number), stride: layout.stride,
            epoch: epoch, data: data)
        // An owner's hub has condensed them. Other rows are kept as they are, and read by those who read damaged ones.
        if BatchHeader.kind(of: row) == .kicks { throw .outOfRange }
        return row
    }
}
