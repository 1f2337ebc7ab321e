import TimerCore

/// Which events a stream shows.
struct StreamFilter: Hashable {
    /// Only this timer's.
    var timer: TimerKey?
    /// Only these types, a bit each by `EventType.rawValue`; nil for all.
    var types: UInt64?
    /// Only of timers that carry all of these labels, in encoded form.
    var labels: [[UInt8]] = []

    /// Whether events of this type are shown.
    func shows(_ type: EventType) -> Bool { types.map { $0 & 1 << UInt64(type.rawValue) != 0 } ?? true }

    /// Whether events of a timer are shown, by its definition or the prefix of it that events carry.
    func concerns(_ definition: Span<UInt8>) -> Bool {
        if let timer, !timer.names(definition) { return false }
        return Self.carries(labels, definition)
    }

    /// Whether a definition, or the prefix of one, carries all of `labels`.
    static func carries(_ labels: [[UInt8]], _ definition: Span<UInt8>) -> Bool {
        if labels.isEmpty { return true }
        let run = Definition.labels(definition)
        return labels.allSatisfy { wanted in
            var offset = run.lowerBound
            var start = offset
            while Definition.nextLabel(definition, &offset, end: run.upperBound) != nil {
                if offset - start == wanted.count, wanted.indices.allSatisfy({ definition[start + $0] == wanted[$0] }) {
                    return true
                }
                start = offset
            }
            return false
        }
    }
}
