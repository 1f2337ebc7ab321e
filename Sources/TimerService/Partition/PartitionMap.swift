public import TimerLog

/// The partitions that this process owns, and which timer or record belongs to which: a snapshot.
public struct PartitionMap: Sendable {
    /// How the volume is divided.
    public let layout: PartitionLayout
    /// The partitions owned, by rising numbers.
    public let all: [Partition]
    /// By number; nil where another process owns it, or none.
    private let places: [Partition?]

    /// A map of what is owned of a volume.
    init(_ layout: PartitionLayout, _ owned: [Partition]) {
        self.layout = layout
        all = owned.sorted { $0.number < $1.number }
        var places = [Partition?](repeating: nil, count: layout.count)
        for partition in owned { places[partition.number] = partition }
        self.places = places
    }

    /// Position up to which events of some partition are no longer kept; where all are kept, the one before the first.
    var horizon: Int64 {
        let deleted = all.reduce(0) { max($0, $1.horizon) }
        return deleted > 0 ? deleted : (all.lazy.map(\.oldestAtStart).min() ?? 1) - 1
    }

    /// Position of the oldest event from which on all are kept.
    var oldestKept: Int64 { all.count == 1 ? all[0].oldestKept : horizon + 1 }

    /// Whether this process owns all partitions.
    var isWhole: Bool { all.count == layout.count }

    /// The map with `partition` in the place of its number.
    func adding(_ partition: Partition) -> PartitionMap {
        PartitionMap(layout, all.filter { $0.number != partition.number } + [partition])
    }

    /// The map without the partition numbered `number`.
    func removing(_ number: Int) -> PartitionMap { PartitionMap(layout, all.filter { $0.number != number }) }

    /// The partition numbered `number`; nil where this process does not own it.
    public subscript(number: Int) -> Partition? { places.indices.contains(number) ? places[number] : nil }

    /// The partition of a timer with this keyed hash; nil where this process does not own it.
    public func owner(ofHash hash: UInt64) -> Partition? { places[layout.partition(ofHash: hash)] }

    /// The partition whose log has the record at `position`; nil where this process does not own it.
    public func owner(ofPosition position: Int64) -> Partition? { self[layout.partition(ofPosition: position)] }
}
