import TestSupport
import TimerCore
import TimerLog

@testable import TimerService

/// A client that follows the events of all timers, and goes on at another process when its stream ends.
final class ClusterFollower {
    let number: Int
    /// The process that serves its stream.
    weak var process: ClusterProcess?
    /// The position through which the client was shown every event; nil before it has begun.
    var cursor: Int64?
    /// Whether a read of its stream is under way.
    var isReading = false

    init(_ number: Int) { self.number = number }
}

extension ClusterHistory {
    /// Reads the next rows of the follower's stream, and schedules the read after this one.
    func follow(_ follower: ClusterFollower) throws {
        let isQuick = random.chance(oneIn: 3)
        schedule(after: random.number(0...(isQuick ? 1 : 20) * Self.millisecond)) { [unowned self] in
            try follow(follower)
        }
        if follower.isReading { return }
        follower.isReading = true
        defer { follower.isReading = false }
        if let process = follower.process, process.isDead || process.log == nil || random.chance(oneIn: 200) {
            follower.process = nil
        }
        guard let process = follower.process else { return try connect(follower) }
        guard process.isAwake, let cursor = follower.cursor else { return }
        var reading = process.feed.reading(after: cursor)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            // Other threads may take steps before each look.
            interleave()
            standStill(process)
            switch reading.next() {
            case .row(let row): try show(row, follower)
            case .none(let newest): return try pass(newest, follower)
            case .gone: return try replay(follower, process)
            }
            guard process.isAwake else { return }
        }
    }

    private func connect(_ follower: ClusterFollower) throws {
        follower.process = processes.filter(\.isServing).randomElement(using: &random)
        guard let process = follower.process else { return }
        if follower.cursor != nil {
            tally.resumed += 1
            return
        }
        // The stream begins now: later records have greater positions than the newest event.
        follower.cursor = process.feed.head
    }

    private func replay(_ follower: ClusterFollower, _ process: ClusterProcess) throws {
        guard let cursor = follower.cursor, let log = process.log else { return }
        let end = log.hub.head
        var rows: [LogRow] = []
        // A log that was closed meanwhile is read no further.
        try? log.store.makeReader().read(from: cursor + 1) { row in
            if row.last <= end { rows.append(row) }
            return row.last < end
        }
        for row in rows { try show(row, follower) }
    }

    /// Checks that the events of a row are the next ones of the history.
    private func show(_ row: LogRow, _ follower: ClusterFollower) throws {
        guard let cursor = follower.cursor else { return }
        var shown: [LogAudit.Event] = []
        try BatchRows.read(row) { record in
            guard record.position > cursor, let recorded = Recorded(record, row), let id = recorded.id,
                let type = recorded.event.type
            else { return true }
            shown.append(LogAudit.Event(position: record.position, id: id, type: type))
            return true
        }
        try check(shown, through: row.last, follower)
    }

    private func pass(_ position: Int64, _ follower: ClusterFollower) throws {
        try check([], through: position, follower)
    }

    /// Compares the events that a stream was shown up to `position` with those of the log.
    private func check(_ shown: [LogAudit.Event], through position: Int64, _ follower: ClusterFollower) throws {
        guard let cursor = follower.cursor, position > cursor || !shown.isEmpty else { return }
        let expected = audit.events(after: cursor, through: position)
        try promise(
            shown == expected,
            "stream \(follower.number) is shown \(shown) behind \(cursor) up to \(position), not \(expected)")
        follower.cursor = position
        audit.shownThrough = max(audit.shownThrough, position)
        tally.events += shown.count
    }
}

extension ClusterHistory {
    /// Checks that every stream has reached `newest`, which was the newest event some time ago.
    func checkStreams(through newest: Int64) throws(BrokenPromise) {
        for follower in followers {
            try promise(
                follower.cursor ?? 0 >= newest,
                "stream \(follower.number) stands at \(follower.cursor ?? 0), and \(newest) has come long ago")
        }
    }
}

extension SharedAudit {
    /// The events after `position`, up to `end`.
    func events(after position: Int64, through end: Int64) -> [LogAudit.Event] {
        var index = events.count
        while index > 0, events[index - 1].position > position { index -= 1 }
        return Array(events[index...].prefix { $0.position <= end })
    }
}
