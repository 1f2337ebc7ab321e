import TimerCore
import TimerLog

@testable import TimerService

/// A client that follows the events, from memory or from disk, and comes back after each crash.
struct Follower {
    /// The position through which the client was shown every event.
    private var cursor: Int64 = 0
    /// The number of the events that landed which are at or before `cursor`.
    private var passed = 0
    /// The timer whose events the client is shown, nil for all.
    var isWatching: String?

    /// Takes the new events and compares them with the rows on disk.
    mutating func poll(_ server: Server, _ store: SimulatedStore, _ audit: LogAudit) throws {
        if cursor < server.log.horizon {
            // 410: the client begins again at the oldest event kept.
            cursor = server.log.horizon
        }
        var rows: [LogRow] = []
        var through = cursor
        reading: while true {
            switch server.hub.row(after: through) {
            case .row(let row):
                rows.append(row)
                through = row.last
                continue
            case .none(let newest):
                through = max(through, newest)
                break reading
            case .gone:
                break
            }
            try store.makeReader().read(from: cursor + 1) { row in
                rows.append(row)
                return true
            }
            through = max(cursor, rows.last?.last ?? cursor)
            break
        }
        while passed < audit.events.count, audit.events[passed].position <= cursor { passed += 1 }
        var expected = passed
        var wrong: LogAudit.Event?
        for row in rows {
            try BatchRows.read(row) { record in
                guard record.position > cursor, let recorded = Recorded(record, row), let id = recorded.id,
                    let type = recorded.event.type
                else { return true }
                if let isWatching, id != isWatching { return true }
                while let isWatching, expected < audit.events.count, audit.events[expected].id != isWatching {
                    expected += 1
                }
                let event = LogAudit.Event(position: record.position, id: id, type: type)
                guard expected < audit.events.count, audit.events[expected] == event else {
                    wrong = wrong ?? event
                    return false
                }
                expected += 1
                return true
            }
        }
        try promise(wrong == nil, "the stream shows \(wrong.map { "\($0)" } ?? ""), which is not next")
        if isWatching == nil {
            let left = audit.events[expected...].first { $0.position <= through }
            try promise(left == nil, "the stream leaves out \(left.map { "\($0)" } ?? "")")
        }
        cursor = through
    }
}
