public import TimerCore
import TimerLog

/// What an event that is delivered says, its payload aside.
public struct OwedEvent: Sendable, Equatable {
    /// What happened.
    public var type: EventType
    /// Wall milliseconds at which it did.
    public var at: Int64
    /// The prefix of its timer's definition as it was then: id and labels.
    public var definition: [UInt8]

    /// The event that `record` tells; nil when it tells none.
    ///
    /// - Parameter data: of the row that holds the record.
    init?(_ record: LogRecord, _ data: [UInt8]) {
        guard case .event(let type, _, _) = record.content else { return nil }
        self.type = type
        at = record.at
        let whole = data.span.extracting(record.definition)
        let count = Definition.prefixCount(whole) ?? 0
        definition = Array(data[record.definition].prefix(count))
    }
}
