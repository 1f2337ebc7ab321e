import Platform
import Synchronization
public import TimerLog

/// The newest rows of all partitions, in the order of ids, for streams.
///
/// A row is shown once no partition can have an earlier record: each has shown a later one, or promised that none comes. So
/// an id alone says how far a stream has come, here and at the next owner. The log of one partition is shown as its hub has
/// it.
public final class EventFeed: Sendable {
    /// How positions lie.
    let layout: PartitionLayout
    /// The hub of a log that is not divided.
    private let hub: EventHub?
    private let all: @Sendable () -> [any EventSource]
    private let observers = Guarded<[@Sendable () -> Void]>([])
    private let count = Atomic<UInt64>(0)

    /// A feed of the partitions in `partitions`.
    ///
    /// - Parameter onlyWhole: nothing is shown while some partition is missing, whose records would be passed over: they have
    ///   their place among those of the others.
    convenience init(_ partitions: Published<PartitionMap>, onlyWhole: Bool = false) {
        self.init(partitions.value.layout) {
            let owned = partitions.value
            return onlyWhole && !owned.isWhole ? [] : owned.all
        }
    }

    /// A feed of what `all` returns, by rising numbers.
    init(_ layout: PartitionLayout, _ all: @escaping @Sendable () -> [any EventSource]) {
        self.layout = layout
        self.all = all
        hub = layout == .single ? all().first?.hub : nil
        if hub == nil { for source in all() { follow(source) } }
    }

    /// Passes on what the hub of `source`, one of several partitions, tells its observers. Once for each partition that
    /// comes to this process.
    func follow(_ source: any EventSource) {
        source.hub.observe { [weak self] in self?.notify() }
    }

    private func notify() {
        count.add(1, ordering: .releasing)
        for observer in observers.withLock({ $0 }) { observer() }
    }

    /// Changes whenever observers are called: while it stays, nothing new is shown. Nil for a log that is not divided, where
    /// a look costs no more.
    public var changes: UInt64? { hub == nil ? count.load(ordering: .acquiring) : nil }

    /// The partitions as they are at present; none while some can't be shown.
    var sources: [any EventSource] { all() }

    /// The one partition of a log that is not divided.
    var only: (any EventSource)? { hub == nil ? nil : all().first }

    /// The partition whose log has the record at `position`; nil where it can't be read.
    func owner(ofPosition position: Int64) -> (any EventSource)? { source(layout.partition(ofPosition: position)) }

    /// The partition with a number; nil where it can't be read.
    func source(_ number: Int) -> (any EventSource)? { only ?? all().first { $0.number == number } }

    /// Calls `observer` after each publication, and whenever waiting answers may have been resolved. Any thread.
    public func observe(_ observer: @escaping @Sendable () -> Void) {
        if let hub { hub.observe(observer) } else { observers.withLock { $0.append(observer) } }
    }

    /// Position up to which every event is shown. It does not move with time alone.
    public var head: Int64 { hub?.head ?? head(of: all()) }

    /// The newest position that was published.
    public var newest: Int64 { hub?.head ?? Self.newest(of: all()) }

    /// The position at which a replay that is to show everything up to `position` ends. A partition whose storage fails keeps
    /// the replay waiting: what was answered about other partitions is not to be missing.
    public func end(of position: Int64) -> Int64 { min(position, newest) }

    /// As `head`, of `sources`.
    func head(of sources: [any EventSource]) -> Int64 {
        let newest = Self.newest(of: sources)
        return sources.reduce(newest) { min($0, $1.known(through: newest)) }
    }

    /// The newest position that was published.
    static func newest(of sources: [any EventSource]) -> Int64 { sources.reduce(0) { max($0, $1.hub.head) } }

    /// Whether every row after `position` is in memory.
    public func holds(after position: Int64) -> Bool {
        hub?.holds(after: position) ?? all().allSatisfy { $0.hub.holds(after: position) }
    }

    /// The row that holds `position`, where it is in memory.
    public func row(holding position: Int64) -> LogRow? { owner(ofPosition: position)?.hub.row(holding: position) }

    /// As `EventHub.standing`. Of several partitions an id between two records names the place where the watermark of a
    /// list or stream was, so that it is never `lost`, and nothing has to be looked up.
    public func standing(of position: Int64) -> EventHub.Standing { hub?.standing(of: position) ?? .given }

    /// Whether a client may know `position`, which is above what it asks for has come to: with several partitions it may be the
    /// id of an event in another one, or a watermark that an earlier owner gave by its own clock. Nil while some
    /// partition can't be shown: nobody knows here what was given.
    public func mayLead(_ position: Int64) -> Bool? {
        guard hub == nil else { return false }
        let sources = all()
        guard let first = sources.first else { return nil }
        // The calendar may lie behind what was given: after a take-over, or where it was set back.
        return position <= max(first.clockPosition + Self.clockSkew, Self.newest(of: sources))
    }

    /// Clocks differ by so many positions at most.
    private static let clockSkew = 5 * PositionClock.perSecond

    /// What memory has behind a position.
    public enum Next: Sendable, Equatable {
        /// What comes next.
        case slice(RowSlice)
        /// Nothing so far: everything up to `newest` was shown.
        case none(newest: Int64)
        /// Rows that are no longer in memory.
        case gone
    }

    /// Begins to read what memory has behind `position`. For one thread, and not for long: it keeps what it was begun with.
    public func reading(after position: Int64) -> FeedReading {
        if let hub { return FeedReading(hub, after: position) }
        return FeedReading(MergedReading(all(), layout, after: position))
    }
}

extension EventSource {
    /// Position up to which the hub has every record that there is or will be: at least `position`, where that can be.
    func known(through position: Int64) -> Int64 {
        let newest = hub.head
        return newest >= position ? newest : max(newest, promise(through: position))
    }
}
