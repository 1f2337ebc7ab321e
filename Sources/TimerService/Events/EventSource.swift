import TimerLog

/// What streams need of a partition.
protocol EventSource: AnyObject, Sendable {
    /// Its number among the partitions of the volume.
    var number: Int { get }
    /// Its newest rows.
    var hub: EventHub { get }
    /// Its log.
    var store: any LogStore { get }
    /// Position of the present instant.
    var clockPosition: Int64 { get }
    /// Promises that the hub has every record up to the position returned, and that no other will come: see
    /// `Engine.promise`.
    func promise(through position: Int64) -> Int64
}

extension Partition: EventSource {
    var clockPosition: Int64 { engine.clockPosition }

    func promise(through position: Int64) -> Int64 { engine.promise(through: position) }
}
