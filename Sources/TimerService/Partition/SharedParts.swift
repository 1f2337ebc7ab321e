import TimerLog

/// What the engines of a process share.
final class SharedParts: Sendable {
    /// When the fire loop is to wake for which of them.
    let schedule: FireSchedule
    /// The loops that read sockets.
    let sockets = SocketReaders()
    /// What all of them together may hold.
    let bounds: SharedBounds
    /// What engines that were given up had under way.
    let givenUp = GivenUpPositions()
    /// The committer's.
    let bell: CommitBell
    let timeSource: any TimeSource
    /// Until when what the engines hold may be shown; nil: always.
    let lease: Lease?

    /// - Parameters:
    ///   - partitions: how many the volume has.
    ///   - lease: until when what the engines hold may be shown; nil: always.
    init(
        _ configuration: EngineConfiguration, partitions: Int = 1, alarm: any Alarm, timeSource: any TimeSource,
        lease: Lease? = nil, bell: CommitBell = CommitBell()
    ) {
        self.lease = lease
        schedule = FireSchedule(alarm, timeSource, partitions: partitions)
        bounds = SharedBounds(configuration, partitions: partitions)
        self.bell = bell
        self.timeSource = timeSource
    }

    /// Adds a loop that reads sockets, where kicks may wait.
    ///
    /// - Parameter ask: has the loop tell once it has read them; called under an engine's lock.
    func addReader(ask: @escaping @Sendable () -> Void) -> SocketReader {
        let reader = SocketReader(ask: ask) { [schedule] in schedule.ring() }
        sockets.add(reader)
        return reader
    }
}
