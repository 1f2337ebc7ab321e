import HTTPServer
import TimerCore
import TimerLog
import TimerService

/// Streams that read rows for themselves: what was before they began, or what their clients were too slow for.
extension StreamTable {
    /// Takes a stream that is behind one portion further, then puts it behind the others that read on.
    func readOn(_ stream: EventStream) {
        guard stream.mode == .behind, streams[stream.id] != nil else { return }
        if !stream.rows.isEmpty { return showRows(stream) }
        if stream.readsHistory {
            stream.history = stream.history.drop { stream.cursor.covers($0) }
            if !stream.history.isEmpty { return fetch(stream) }
            // Nothing else happened to its timer until it was asked for.
            stream.cursor.advance(to: stream.begunAt)
        }
        if stream.cursor >= seen { return join(stream) }
        showMemory(stream)
    }

    /// Shows a stream the next portion of the rows it was given.
    private func showRows(_ stream: EventStream) {
        var draft = StreamPortionDraft(stream.channel.key)
        var through = stream.cursor
        while !draft.isFull, let row = stream.rows.first {
            let isBehindKept = !through.covers(row.previous) && through.position < service.horizon
            if isBehindKept && !stream.readsHistory {
                if draft.isEmpty { return loseTrack(stream) }
                break
            }
            guard let events = events(of: row) else {
                if draft.isEmpty { return cut(stream) }
                break
            }
            through = draft.take(events, after: through)
            if through.covers(row.last) { stream.rows.removeFirst() }
        }
        if stream.rows.isEmpty { dropRows(of: stream) }
        if show(draft.finish(through: through), to: stream) { goOn(stream) }
    }

    /// Shows a stream the next portion of the rows in memory.
    private func showMemory(_ stream: EventStream) {
        let after = stream.cursor
        if let known = recent.portion(of: stream.channel, after: after) {
            if show(known, to: stream) { goOn(stream) }
            return
        }
        var draft = StreamPortionDraft(stream.channel.key)
        var through = after
        var bytes = 0
        gathering: while !draft.isFull && bytes < BatchRows.maximumRowBytes {
            switch service.hub.row(after: through.position) {
            case .row(let row):
                guard let events = events(of: row) else {
                    if through == after { return cut(stream) }
                    break gathering
                }
                through = draft.take(events, after: through)
                bytes += row.data.count
            case .none(let newest):
                through.advance(to: newest)
                break gathering
            case .gone:
                if through == after { return fetch(stream) }
                break gathering
            }
        }
        let portion = draft.finish(through: through)
        recent.keep(portion, of: stream.channel, after: after)
        if show(portion, to: stream) { goOn(stream) }
    }

    /// A row, decoded; nil for one that is damaged, which an operator is told.
    func events(of row: LogRow) -> RowEvents? {
        if let known = recent.events(of: row) { return known }
        do throws(StoreError) {
            let events = try RowEvents(row)
            recent.keep(events)
            return events
        } catch {
            service.note(unreadable: error)
            return nil
        }
    }

    /// Has the rows read that a stream needs next. Only so many streams hold rows at once; the others wait for them.
    private func fetch(_ stream: EventStream) {
        stream.mode = .reading
        if rowHolders < Self.mostRowHolders { ask(stream) } else { awaitingRows.append(stream) }
    }

    /// Streams that may hold rows from the store at once, each about a mebibyte.
    private static let mostRowHolders = 16

    private func ask(_ stream: EventStream) {
        rowHolders += 1
        stream.holdsRows = true
        stream.readFloor = service.hub.floor
        let id = stream.id
        let inbox = inbox
        if stream.readsHistory, let mark = stream.history.first {
            service.replayer.rows(ofEventsTo: mark, after: stream.cursor.position) { inbox.post(.rows(stream: id, $0)) }
        } else {
            service.replayer.rows(after: stream.cursor.position) {
                inbox.post(.rows(stream: id, $0.map { (rows: $0, isWhole: true) }))
            }
        }
    }

    /// Lets a stream's rows go; the next that wants some may have them.
    func dropRows(of stream: EventStream) {
        stream.rows = []
        guard stream.holdsRows else { return }
        stream.holdsRows = false
        rowHolderLeft()
    }

    private func rowHolderLeft() {
        rowHolders -= 1
        while rowHolders < Self.mostRowHolders, let next = awaitingRows.popFirst() {
            if next.mode == .reading, streams[next.id] != nil { ask(next) }
        }
    }

    /// Rows arrived that a stream asked for.
    func received(_ result: Result<(rows: [LogRow], isWhole: Bool), StoreError>, forID id: UInt64) {
        // It ended meanwhile.
        guard let stream = streams[id], stream.mode == .reading else { return rowHolderLeft() }
        switch result {
        case .success((let rows, let isWhole)) where !rows.isEmpty && (isWhole || !stream.tellsGaps):
            stream.rows = rows[...]
            goOn(stream)
        case .success((_, let isWhole)):
            dropRows(of: stream)
            if !isWhole && stream.tellsGaps { return loseTrack(stream) }
            if stream.readsHistory {
                // Of a history from the beginning on, these events have gone since.
                stream.cursor.advance(to: stream.history.first ?? 0)
                return goOn(stream)
            }
            if stream.cursor.position < service.horizon { return loseTrack(stream) }
            // Nothing more was on disk: what came since the read began is in memory.
            stream.cursor.advance(to: stream.readFloor)
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
