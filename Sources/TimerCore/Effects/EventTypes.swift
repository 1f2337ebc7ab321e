/// A set of event types, a bit each by `EventType.rawValue`.
public struct EventTypes: OptionSet, Sendable, Hashable {
    /// The bits.
    public var rawValue: UInt32
    /// Makes a set of bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Makes the set of one type.
    public init(_ type: EventType) { rawValue = 1 << UInt32(type.rawValue) }
    /// Whether `type` is in the set.
    public func contains(_ type: EventType) -> Bool { contains(EventTypes(type)) }
}
