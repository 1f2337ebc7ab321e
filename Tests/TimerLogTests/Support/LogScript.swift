import TestSupport

@testable import TimerCore
@testable import TimerLog

/// A writer of rows as a server would write them: each call of `row` ends a batch.
struct LogScript {
    private(set) var rows: [LogRow] = []
    private var records: [UInt8] = []
    private var first: Int64 = 1
    private(set) var next: Int64 = 1
    private var lastEvents: [String: Int64] = [:]
    private var versions: [String: Int64] = [:]
    private let base = TimeBase(
        now: Now(elapsed: 5, wallOffset: 6), boottime: 7, boot: Hash128(high: 9, low: 10))

    /// Records an event of the timer `id`; its version is the next.
    @discardableResult
    mutating func event(
        _ type: EventType, _ id: String, _ state: TimerState = .running, payload: [UInt8] = [], version: Int64? = nil
    ) -> Int64 {
        let previous = type == .created ? 0 : lastEvents[id] ?? 0
        let progress = progress(id, state, version)
        let effect = Effect(type: type, at: 100 + next, slot: 0, progress: progress)
        RecordCodec.append(
            effect, type, distance: previous == 0 ? 0 : next - previous,
            definition: definition(id, payload: payload).span, to: &records)
        lastEvents[id] = next
        return advance()
    }

    /// Records the timer `id` as it is.
    @discardableResult
    mutating func snapshot(_ id: String, _ state: TimerState, version: Int64) -> Int64 {
        RecordCodec.appendSnapshot(
            progress(id, state, version), nil, lastEvent: lastEvents[id] ?? 0, definition: definition(id).span,
            to: &records)
        return advance()
    }

    @discardableResult
    mutating func answer(_ key: UInt64, at: Int64, bytes: Int = 3) -> Int64 {
        let answer = [UInt8](repeating: 1, count: bytes)
        RecordCodec.append(StoredAnswer(.numbered(key), answeredAt: at, answer: answer), to: &records)
        return advance()
    }

    @discardableResult
    mutating func versionFloor(_ floor: Int64) -> Int64 {
        RecordCodec.appendVersionFloor(floor, at: 1, to: &records)
        return advance()
    }

    /// Ends the batch.
    mutating func row() {
        rows += BatchRows.make(
            records: records, first: first, previous: rows.last?.last ?? 0, epoch: 0, base: base)
        records = []
        first = next
    }

    private mutating func advance() -> Int64 {
        next += 1
        return next - 1
    }

    private mutating func progress(_ id: String, _ state: TimerState, _ version: Int64?) -> TimerProgress {
        var progress = TimerProgress()
        versions[id] = version ?? versions[id, default: 0] + 1
        progress.version = versions[id] ?? 0
        progress.state = state
        progress.updatedAt = 100 + next
        return progress
    }
}
