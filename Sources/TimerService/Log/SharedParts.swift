import TimerLog

/// What an engine shares with the threads around it, and with the engines that the process had before it.
final class SharedParts: Sendable {
    /// When the fire loop is to wake.
    let alarm: any Alarm
    /// The loops that read sockets.
    let sockets = SocketReaders()
    /// What engines that were dropped had under way.
    let givenUp = GivenUpPositions()
    /// The committer's.
    let bell: CommitBell
    let timeSource: any TimeSource
    /// Until when what an engine holds may be shown; nil: always.
    let lease: Lease?

    /// - Parameter lease: until when what an engine holds may be shown; nil: always.
    init(alarm: any Alarm, timeSource: any TimeSource, lease: Lease? = nil, bell: CommitBell = CommitBell()) {
        self.alarm = alarm
        self.timeSource = timeSource
        self.lease = lease
        self.bell = bell
    }

    /// Adds a loop that reads sockets, where kicks may wait.
    ///
    /// - Parameter ask: has the loop tell once it has read them; called under an engine's lock.
    func addReader(ask: @escaping @Sendable () -> Void) -> SocketReader {
        let reader = SocketReader(ask: ask) { [alarm] in alarm.ring() }
        sockets.add(reader)
        return reader
    }
}
