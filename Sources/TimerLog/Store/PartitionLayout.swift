public import TimerCore

/// How a volume is divided: into how many partitions, and which positions and timers are whose.
///
/// A timer belongs to the partition that the top bits of its keyed hash number. With a stride of 1024 the positions of
/// partition p are ≡ p mod 1024, so a position tells whose it is, and the positions of all partitions are in one order.
/// A volume of one partition may have a stride of 1: its positions follow each other without gaps.
public struct PartitionLayout: Sendable, Equatable {
    /// The stride of every volume of several partitions, and the most partitions there are.
    public static let wideStride: Int64 = 1024
    /// How many positions stay free before the first of each batch with a wide stride, for what `LogVolume.settle` writes.
    public static let settlements: Int64 = 16
    /// One partition, whose positions follow each other without gaps.
    public static let single = PartitionLayout()

    /// How many partitions there are: a power of two, at most 1024.
    public let count: Int
    /// Distance of two positions of a partition that follow each other: 1 or 1024.
    public let stride: Int64
    /// How many top bits of a hash number the partition.
    public let bits: Int

    private init() { (count, stride, bits) = (1, 1, 0) }

    /// A division into `count` partitions with a stride of 1024; nil where that is no power of two up to 1024.
    public init?(strided count: Int) {
        guard count > 0, count <= Int(Self.wideStride), count.nonzeroBitCount == 1 else { return nil }
        (self.count, stride, bits) = (count, Self.wideStride, count.trailingZeroBitCount)
    }

    /// The number of the partition that a timer with this keyed hash belongs to.
    @inlinable public func partition(ofHash hash: UInt64) -> Int { bits == 0 ? 0 : Int(hash >> UInt64(64 - bits)) }

    /// What the hashes of all timers of partition `number` begin with.
    public func hashPrefix(of number: Int) -> HashPrefix {
        guard let prefix = HashPrefix(bits: bits, number: number) else {
            preconditionFailure("a partition's number is below the count, of as many bits")
        }
        return prefix
    }

    /// The number of the partition that the record at `position` belongs to; of several it may be one that is not there.
    @inlinable public func partition(ofPosition position: Int64) -> Int { Int(position & (stride - 1)) }

    /// The first position of partition `number` that is at least `position`. Both are at least 0.
    @inlinable public func position(atOrAfter position: Int64, in number: Int) -> Int64 {
        let ahead = (Int64(number) - position) & (stride - 1)
        let (sum, overflow) = position.addingReportingOverflow(ahead)
        return overflow ? sum &- stride : sum
    }

    /// The first position of partition `number` behind `position`.
    @inlinable public func position(after position: Int64, in number: Int) -> Int64 {
        self.position(atOrAfter: position + 1, in: number)
    }

    /// The last position of partition `number` that is at most `position`; below 0 where there is none.
    @inlinable public func position(atOrBefore position: Int64, in number: Int) -> Int64 {
        position - ((position - Int64(number)) & (stride - 1))
    }
}
