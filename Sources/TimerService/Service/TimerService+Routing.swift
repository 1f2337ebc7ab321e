internal import Platform
public import TimerCore
public import TimerLog

/// Where things are, of what this process owns.
extension TimerService {
    /// How the volume is divided.
    public var layout: PartitionLayout { partitions.value.layout }

    /// The partition of a timer; nil where this process does not own it.
    public func owner(of key: borrowing TimerKey) -> Partition? { partitions.value.owner(ofHash: key.hash) }

    /// The time zones of cron schedules; any thread.
    public var zones: any ZoneSource { configuration.zones }

    /// Adds a loop that reads sockets, where kicks may wait.
    ///
    /// - Parameter ask: has the loop tell once it has read them; called under an engine's lock.
    public func addReader(ask: @escaping @Sendable () -> Void) -> SocketReader {
        shared.addReader(ask: ask)
    }
}
