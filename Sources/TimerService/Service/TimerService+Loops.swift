public import TimerCore

/// The parts of a service that a process's I/O loops need, whoever owns the log.
extension TimerService {
    /// The time zones of cron schedules. May be read on any thread.
    public var zones: any ZoneSource { configuration.zones }

    /// Adds a loop that reads sockets, where kicks may wait.
    ///
    /// - Parameter ask: asks the loop to report once it has read its sockets; called under an engine's lock.
    public func addReader(ask: @escaping @Sendable () -> Void) -> SocketReader {
        shared.addReader(ask: ask)
    }
}
