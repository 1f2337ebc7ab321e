import TimerLog

/// What a process that follows partitions of another one asks of it.
public enum FeedAsk: Sendable, Equatable {
    /// The records of a partition behind a position, from now on. It takes the place of what was asked before.
    case follow(partition: Int, after: Int64)
    /// No more of a partition.
    case leave(partition: Int)
    /// That no further record of a partition, which is followed, comes up to a position.
    case promise(partition: Int, through: Int64)
    /// So many frames more.
    case credit(Int)

    /// Most asks in one message: of each partition, and one for frames.
    static let mostAtOnce = 2 * Int(PartitionLayout.wideStride) + 1
    /// Bytes of the longest message.
    static let maximumBytes = 4 + mostAtOnce * 11
    /// Frames that are asked for at once at most.
    static let mostCredit = 255

    /// A message of `asks`, at most `mostAtOnce`: their count, then each with its kind before its fields.
    static func encode(_ asks: [FeedAsk]) -> [UInt8] {
        var writer = FrameWriter()
        writer.append(count: asks.count)
        for ask in asks {
            switch ask {
            case .follow(let partition, let after): append(1, partition, after, to: &writer)
            case .leave(let partition): append(2, partition, nil, to: &writer)
            case .promise(let partition, let through): append(3, partition, through, to: &writer)
            case .credit(let count):
                writer.append(UInt8(4))
                writer.append(UInt8(clamping: count))
            }
        }
        return writer.finish()
    }

    private static func append(_ kind: UInt8, _ partition: Int, _ position: Int64?, to writer: inout FrameWriter) {
        writer.append(kind)
        writer.append(partition: partition)
        if let position { writer.append(position) }
    }

    /// The asks of a message about partitions of `layout`.
    static func decode(_ bytes: ArraySlice<UInt8>, _ layout: PartitionLayout) throws(FrameError) -> [FeedAsk] {
        var reader = FrameReader(bytes)
        var asks: [FeedAsk] = []
        for _ in 0..<(try reader.count(atMost: mostAtOnce)) {
            let kind = try reader.integer(UInt8.self)
            if kind == 4 {
                asks.append(.credit(Int(try reader.integer(UInt8.self))))
                continue
            }
            guard (1...3).contains(kind) else { throw .unknownKind(kind) }
            let partition = try reader.partition(below: layout.count)
            switch kind {
            case 1: asks.append(.follow(partition: partition, after: try reader.position()))
            case 2: asks.append(.leave(partition: partition))
            default: asks.append(.promise(partition: partition, through: try reader.position()))
            }
        }
        try reader.end()
        return asks
    }
}
