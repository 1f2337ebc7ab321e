internal import Platform
public import TimerCore
public import TimerLog

/// Where things are, of what this process owns.
extension TimerService {
    /// How the volume is divided.
    public var layout: PartitionLayout { partitions.value.layout }

    /// The partition of a timer; nil where this process does not own it.
    public func owner(of key: borrowing TimerKey) -> Partition? { partitions.value.owner(ofHash: key.hash) }

    /// Hashes for keys made outside of the locks: one secret for all partitions, fixed for the life of the volume.
    public var siphash: SipHash { engine.siphash }

    /// The time zones of cron schedules; any thread.
    public var zones: any ZoneSource { engine.zones }
}
