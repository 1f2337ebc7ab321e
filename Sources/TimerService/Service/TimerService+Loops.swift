public import TimerCore

/// What the I/O loops of a process need of its service, whoever owns the log.
extension TimerService {
    /// The time zones of cron schedules; any thread.
    public var zones: any ZoneSource { configuration.zones }

    /// Adds a loop that reads sockets, where kicks may wait.
    ///
    /// - Parameter ask: has the loop tell once it has read them; called under an engine's lock.
    public func addReader(ask: @escaping @Sendable () -> Void) -> SocketReader {
        shared.addReader(ask: ask)
    }
}
