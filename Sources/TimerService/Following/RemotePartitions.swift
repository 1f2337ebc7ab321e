import Platform
import TimerLog

/// The partitions that this process does not own, as it follows them at their owners.
public final class RemotePartitions: Sendable {
    let layout: PartitionLayout
    private let readers: @Sendable (Int) throws(StoreError) -> any LogReader
    private let clock: @Sendable () -> Int64
    private let followed: Guarded<[Int: RemotePartition]>

    /// - Parameters:
    ///   - owned: numbers of those that this process owns.
    ///   - readers: makes a reader of a partition's log, whoever owns it.
    ///   - clock: position of this process's present instant.
    init(
        _ layout: PartitionLayout, owned: [Int] = [],
        readers: @escaping @Sendable (Int) throws(StoreError) -> any LogReader, clock: @escaping @Sendable () -> Int64
    ) {
        self.layout = layout
        self.readers = readers
        self.clock = clock
        var followed: [Int: RemotePartition] = [:]
        for number in 0..<layout.count where !owned.contains(number) {
            followed[number] = RemotePartition(PartitionPlace(number, of: layout), readers: readers, clock: clock)
        }
        self.followed = Guarded(followed)
    }

    /// Those of `volume` that this process does not own.
    convenience init(of volume: any LogVolume, owned: [Int], _ timeSource: any TimeSource) {
        self.init(volume.layout, owned: owned) { number throws(StoreError) in
            try volume.makeReader(number)
        } clock: {
            CalendarPosition.at(realtime: timeSource.realtime())
        }
    }

    /// All that are followed.
    var all: [RemotePartition] { followed.withLock { $0.values.sorted { $0.number < $1.number } } }

    /// The partition with this number; nil where this process has owned it from the start.
    subscript(number: Int) -> RemotePartition? { followed.withLock { $0[number] } }

    /// The partitions of the volume by rising numbers: those that this process owns, which `local` returns, and the others as
    /// their owners tell. None where nothing is known of one yet.
    ///
    /// - Parameter local: of a map that was read before.
    func completing(_ local: (Int) -> (any EventSource)?) -> [any EventSource] {
        let followed = followed.withLock { $0 }
        var sources: [any EventSource] = []
        sources.reserveCapacity(layout.count)
        for number in 0..<layout.count {
            if let source = local(number) {
                sources.append(source)
            } else if let remote = followed[number], remote.isHeard {
                sources.append(remote)
            } else {
                return []
            }
        }
        return sources
    }

    /// Follows a partition that this process is about to give up, behind what it has shown of it. Before it leaves the map of
    /// what is owned.
    func begin(after local: any EventSource) -> RemotePartition {
        let number = local.number
        let remote = RemotePartition(PartitionPlace(number, of: layout), after: local, readers: readers, clock: clock)
        followed.withLock { $0[number] = remote }
        return remote
    }

    /// Lets go of the rows of a partition that this process owns now. Who still has a map in which it does not goes on with
    /// what was told of it.
    func end(_ number: Int) { self[number]?.hub.shrink() }
}
