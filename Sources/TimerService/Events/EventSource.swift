import TimerLog

/// What streams need of a partition.
protocol EventSource: AnyObject, Sendable {
    /// Its number among the partitions of the volume.
    var number: Int { get }
    /// Its newest rows.
    var hub: EventHub { get }
    /// Whether another process owns it.
    var isRemote: Bool { get }
    /// Position of the present instant.
    var clockPosition: Int64 { get }
    /// Position up to which its events are no longer kept; 0 where none was deleted.
    var horizon: Int64 { get }
    /// Position of the first event that its log held when its owner began; `Int64.max` where that is not known.
    var oldestAtStart: Int64 { get }
    /// Makes a reader of its log.
    func makeReader() throws(StoreError) -> any LogReader
    /// Promises that the hub has every record up to the position returned, and that no other will come: see
    /// `Engine.promise`.
    func promise(through position: Int64) -> Int64
}

extension EventSource {
    /// This process owns it.
    var isRemote: Bool { false }
}

extension Partition: EventSource {
    var clockPosition: Int64 { engine.clockPosition }

    func makeReader() throws(StoreError) -> any LogReader { try store.makeReader() }

    func promise(through position: Int64) -> Int64 { engine.promise(through: position) }
}
