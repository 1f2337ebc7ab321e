import Platform
public import TimerLog

/// The newest rows of the active log for streams, or none while this process owns no log. The feed outlives changes
/// of ownership and keeps its observers.
public final class EventFeed: Sendable {
    private let log: Published<ActiveLog?>
    private let observers = Guarded<[@Sendable () -> Void]>([])

    /// Makes a feed of the log that `log` publishes.
    init(_ log: Published<ActiveLog?>) {
        self.log = log
        if let active = log.value { follow(active) }
    }

    /// Calls the feed's observers whenever the hub of `log` calls its own. Called once for each log that comes to
    /// this process.
    func follow(_ log: ActiveLog) {
        log.hub.observe { [weak self] in self?.notify() }
    }

    /// Calls every observer.
    func notify() {
        for observer in observers.withLock({ $0 }) { observer() }
    }

    private var hub: EventHub? { log.value?.hub }

    /// Calls `observer` after each publication, whenever waiting answers may have been resolved, and whenever the
    /// log comes or goes. May be called on any thread.
    public func observe(_ observer: @escaping @Sendable () -> Void) { observers.withLock { $0.append(observer) } }

    /// Position of the newest row that was published; 0 where there is no log.
    public var head: Int64 { hub?.head ?? 0 }

    /// Whether every row after `position` is in memory.
    public func holds(after position: Int64) -> Bool { hub?.holds(after: position) ?? false }

    /// Returns the row that holds `position`; nil where it is not in memory.
    public func row(holding position: Int64) -> LogRow? { hub?.row(holding: position) }

    /// Returns whether `position` was ever given to a record: see `EventHub.positionState`; `gone` where there is no
    /// log.
    public func positionState(of position: Int64) -> EventHub.PositionState {
        hub?.positionState(of: position) ?? .gone
    }

    /// The result of a search in memory for the row after a position.
    public typealias Next = EventHub.Next

    /// Begins to read the rows in memory after `position`; none ever come where there is no log. The reading is for
    /// one thread and a short time, as it keeps the hub that it was begun with.
    public func reading(after position: Int64) -> FeedReading { FeedReading(hub, after: position) }
}

/// Reads the rows that a feed has in memory, one by one.
public struct FeedReading {
    /// The newest rows of the log that was active when the reading began; nil for none.
    private let hub: EventHub?
    private var position: Int64

    /// Reads the rows of `hub` after `position`.
    init(_ hub: EventHub?, after position: Int64) {
        self.hub = hub
        self.position = position
    }

    /// Reads the next row.
    public mutating func next() -> EventFeed.Next {
        guard let hub else { return .none(newest: position) }
        let next = hub.row(after: position)
        if case .row(let row) = next { position = row.last }
        return next
    }
}
