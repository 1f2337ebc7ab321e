import HTTPServer
import TimerCore
import TimerLog
import TimerService

/// Streams that read rows for themselves: what was before they began, or what their clients were too slow for.
extension StreamTable {
    /// Takes a stream that is behind one row further.
    func readOn(_ stream: EventStream) {
        guard stream.mode == .behind, streams[stream.id] != nil else { return }
        if let row = stream.rows.popFirst() {
            if stream.rows.isEmpty { dropRows(of: stream) }
            return show(row, to: stream)
        }
        if !stream.history.isEmpty {
            stream.history = stream.history.drop { $0 <= stream.cursor }
            if !stream.history.isEmpty { return fetch(stream) }
            // Nothing else happened to its timer until it was asked for.
            stream.cursor = max(stream.cursor, stream.begunAt)
        }
        if stream.cursor >= seen { return join(stream) }
        switch service.hub.row(after: stream.cursor) {
        case .row(let row): show(row, to: stream)
        case .none(let newest):
            stream.cursor = max(stream.cursor, newest)
            goOn(stream)
        case .gone: fetch(stream)
        }
    }

    /// Shows a stream what it has not seen of a row, then puts it behind the others that read on.
    private func show(_ row: LogRow, to stream: EventStream) {
        let isBehindKept = row.previous > stream.cursor && stream.cursor < service.horizon
        if isBehindKept && stream.history.isEmpty { return loseTrack(stream) }
        guard let events = events(of: row) else { return cut(stream) }
        var draft = StreamPortion.Draft(stream.channel.key)
        for index in events.events.indices where events.events[index].position > stream.cursor {
            draft.take(index, of: events)
            guard draft.isFull else { continue }
            guard show(draft.finish(through: events.events[index].position), to: stream) else { return }
        }
        if show(draft.finish(through: row.last), to: stream) { goOn(stream) }
    }

    /// A row, decoded; nil for one that is damaged, which an operator is told.
    func events(of row: LogRow) -> RowEvents? {
        if let known = recent.first(where: { $0.row.first == row.first && $0.row.last == row.last }) { return known }
        do throws(StoreError) {
            let events = try RowEvents(row)
            if recent.count == Self.recentRows { recent.removeFirst() }
            recent.append(events)
            return events
        } catch {
            service.note(unreadable: error)
            return nil
        }
    }

    /// Rows decoded lately that are remembered.
    private static let recentRows = 4

    /// Has the rows read that a stream needs next. Only so many streams hold rows at once; the others wait for them.
    private func fetch(_ stream: EventStream) {
        stream.mode = .reading
        if holders < Self.mostHolders { ask(stream) } else { wanting.append(stream) }
    }

    /// Streams that may hold rows from the store at once, each about a mebibyte.
    private static let mostHolders = 16
    /// Rows that hold events of one timer and are asked for at once, at most.
    private static let historyRows = 256

    private func ask(_ stream: EventStream) {
        holders += 1
        stream.holdsRows = true
        stream.readFloor = service.hub.floor
        let id = stream.id
        let inbox = inbox
        if stream.history.isEmpty {
            service.replayer.rows(after: stream.cursor) { inbox.post(.rows(stream: id, $0)) }
        } else {
            service.replayer.rows(holding: Array(stream.history.prefix(Self.historyRows))) {
                inbox.post(.rows(stream: id, $0))
            }
        }
    }

    /// Lets a stream's rows go; the next that wants some may have them.
    func dropRows(of stream: EventStream) {
        stream.rows = []
        guard stream.holdsRows else { return }
        stream.holdsRows = false
        holders -= 1
        while holders < Self.mostHolders, let next = wanting.popFirst() {
            if next.mode == .reading, streams[next.id] != nil { ask(next) }
        }
    }

    /// Rows arrived that a stream asked for.
    func received(_ result: Result<[LogRow], StoreError>, forID id: UInt64) {
        guard let stream = streams[id], stream.mode == .reading else { return }
        switch result {
        case .success(let rows) where rows.isEmpty:
            dropRows(of: stream)
            if stream.cursor < service.horizon { return loseTrack(stream) }
            // Nothing more was on disk: what came since the read began is in memory.
            stream.history = []
            stream.cursor = max(stream.cursor, stream.readFloor)
            goOn(stream)
        case .success(let rows):
            stream.rows = rows[...]
            goOn(stream)
        case .failure:
            dropRows(of: stream)
            // Storage fails to read, which its own checks report: after a while it is tried again.
            if stream.isOverdue { finish(stream) } else { failed.append(stream) }
        }
    }

    /// What the stream needs is no longer kept: tells so, and ends it.
    private func loseTrack(_ stream: EventStream) {
        if case .stream(let detached) = stream.sink {
            detached.send(EventJSON.gap(since: stream.cursor, as: stream.channel.key.format))
        }
        finish(stream)
    }
}
