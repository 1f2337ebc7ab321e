import TimerLog

/// One message of an owner to a follower: facts about partitions.
public struct FeedFrame: Sendable, Equatable {
    /// What is told, in this order.
    public var facts: [FeedFact]

    /// Makes a frame of `facts`.
    public init(_ facts: [FeedFact]) { self.facts = facts }

    /// A frame takes no further row once it has so many bytes.
    static let targetBytes = 256 << 10
    /// Most rows of one frame.
    static let mostRows = 4096
    /// Most facts of one frame: at most one of each partition.
    static let mostFacts = 1024
    /// Bytes of the longest frame: one row may be longer than the target.
    static let maximumBytes = targetBytes + FeedFact.maximumRowBytes + (1 << 20)

    /// The message: the count of facts, then each.
    func encoded() -> [UInt8] {
        var writer = FrameWriter()
        writer.append(count: facts.count)
        for fact in facts { fact.append(to: &writer) }
        return writer.finish()
    }

    /// The frame of a message about partitions of `layout`.
    init(_ bytes: ArraySlice<UInt8>, _ layout: PartitionLayout) throws(FrameError) {
        var reader = FrameReader(bytes)
        facts = []
        for _ in 0..<(try reader.count(atMost: Self.mostFacts)) { facts.append(try FeedFact(&reader, layout)) }
        try reader.end()
    }
}
