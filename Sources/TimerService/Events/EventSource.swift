import TimerLog

/// A partition as streams see it: its newest rows, its log, and the promise up to which no further record comes.
protocol EventSource: AnyObject, Sendable {
    /// Its number among the partitions of the volume.
    var number: Int { get }
    /// Its newest rows.
    var hub: EventHub { get }
    /// Position of the present instant.
    var clockPosition: Int64 { get }
    /// Makes a reader of its log.
    func makeReader() throws(StoreError) -> any LogReader
    /// Promises that the hub has every record up to the position returned, and that no other will come: see
    /// `Engine.promise`.
    func promise(through position: Int64) -> Int64
}

extension Partition: EventSource {
    var clockPosition: Int64 { engine.clockPosition }

    func makeReader() throws(StoreError) -> any LogReader { try store.makeReader() }

    func promise(through position: Int64) -> Int64 { engine.promise(through: position) }
}
