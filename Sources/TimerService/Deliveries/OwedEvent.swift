public import TimerCore
import TimerLog

/// An event that is to be delivered, without its payload.
public struct OwedEvent: Sendable, Equatable {
    /// The event's type.
    public var type: EventType
    /// The instant at which the event happened, in wall milliseconds.
    public var at: Int64
    /// The prefix of the timer's definition at the event: id and labels.
    public var definition: [UInt8]

    /// Reads the event that `record` holds; nil when it holds none.
    ///
    /// - Parameter data: the data of the row that holds the record.
    init?(_ record: LogRecord, _ data: [UInt8]) {
        guard case .event(let type, _, _) = record.content else { return nil }
        self.type = type
        at = record.at
        let whole = data.span.extracting(record.definition)
        let count = Definition.prefixCount(whole) ?? 0
        definition = Array(data[record.definition].prefix(count))
    }
}
