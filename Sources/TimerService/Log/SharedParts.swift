import TimerLog

/// The parts that an engine shares with the threads around it, and with the earlier engines of the process.
final class SharedParts: Sendable {
    /// The alarm that wakes the fire loop.
    let alarm: any Alarm
    /// The loops that read sockets.
    let sockets = SocketReaders()
    /// The positions that dropped engines gave out and had not shown yet.
    let unknownPositions = UnknownPositions()
    /// The bell that wakes the committer.
    let bell: CommitBell
    let timeSource: any TimeSource
    /// The lease under which an engine's state may be shown; nil where it always may be.
    let lease: Lease?

    /// - Parameter lease: the lease under which an engine's state may be shown; nil where it always may be.
    init(alarm: any Alarm, timeSource: any TimeSource, lease: Lease? = nil, bell: CommitBell = CommitBell()) {
        self.alarm = alarm
        self.timeSource = timeSource
        self.lease = lease
        self.bell = bell
    }

    /// Adds a loop that reads sockets, where kicks may wait.
    ///
    /// - Parameter ask: asks the loop to report once it has read its sockets; called under an engine's lock.
    func addReader(ask: @escaping @Sendable () -> Void) -> SocketReader {
        let reader = SocketReader(ask: ask) { [alarm] in alarm.ring() }
        sockets.add(reader)
        return reader
    }
}
