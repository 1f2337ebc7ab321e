import TimerCore

/// The choice of the events that a stream shows.
struct StreamFilter: Hashable {
    /// The timer whose events are shown; nil for all timers.
    var timer: TimerKey?
    /// The types of the events that are shown, a bit each by `EventType.rawValue`; nil for all types.
    var types: UInt64?
    /// The labels that a timer must carry for its events to be shown, each in encoded form.
    var labels: [[UInt8]] = []

    /// Whether events of this type are shown.
    func shows(_ type: EventType) -> Bool { types.map { $0 & 1 << UInt64(type.rawValue) != 0 } ?? true }

    /// Whether the filter is for the timer of a definition, or of the prefix of one.
    func isOf(_ definition: Span<UInt8>) -> Bool { timer?.names(definition) ?? true }

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
