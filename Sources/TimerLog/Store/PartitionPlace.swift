/// A partition of a volume: its number, and how the volume is divided.
public struct PartitionPlace: Sendable, Equatable {
    /// The only partition of a volume whose positions follow each other without gaps.
    public static let only = PartitionPlace(0, of: .single)

    /// Its number, below `layout.count`.
    public let number: Int
    /// How the volume is divided.
    public let layout: PartitionLayout

    /// Partition `number` of a volume so divided.
    public init(_ number: Int, of layout: PartitionLayout) {
        self.number = number
        self.layout = layout
    }

    /// Distance of the positions of two records that follow each other.
    @inlinable public var stride: Int64 { layout.stride }

    /// The first position of this partition that is at least `position`.
    @inlinable public func position(atOrAfter position: Int64) -> Int64 {
        layout.position(atOrAfter: position, in: number)
    }
}
