import HTTPServer
import Platform
import TimerCore
import TimerLog
import TimerService

/// Streams that are behind: they read the rows from before they began, or those that their clients were too slow for.
extension StreamTable {
    /// Takes a stream that is behind one portion further, then queues it again.
    func readOn(_ stream: EventStream) {
        guard stream.mode == .behind, streams[stream.id] != nil else { return }
        if !stream.rows.isEmpty { return showRows(stream) }
        if stream.readsHistory {
            stream.history = stream.history.drop { stream.cursor.covers($0) }
            if !stream.history.isEmpty { return fetch(stream) }
            // The timer had no further events up to the stream's request.
            stream.cursor.advance(to: stream.begunAt)
        }
        if stream.cursor >= seen { return join(stream) }
        showMemory(stream)
    }

    /// Shows a stream the next portion of the rows that it got from the store.
    private func showRows(_ stream: EventStream) {
        var draft = StreamPortionDraft(stream.channel.key)
        var through = stream.cursor
        while !draft.isFull, let row = stream.rows.first {
            let isBehindKept = !through.covers(row.previous) && through.position < service.horizon
            if isBehindKept && !stream.readsHistory {
                if draft.isEmpty { return endWithGap(stream) }
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
        var reading = service.feed.reading(after: through.position)
        gathering: while !draft.isFull && bytes < BatchRows.maximumRowBytes {
            switch reading.next() {
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

    /// Returns the events of a row; nil if the row is damaged, which is reported to the operator.
    ///
    /// - Parameter isNew: whether the other loops pass over the row as well, so that its decoding is shared.
    func events(of row: LogRow, isNew: Bool = false) -> RowEvents? {
        if let known = recent.events(of: row) { return known }
        do throws(StoreError) {
            let events = RowEvents(isNew ? try newest.events(of: row) : try EventRow(row))
            recent.keep(events)
            return events
        } catch {
            service.note(unreadable: error)
            return nil
        }
    }

    /// Reads the rows that a stream needs next from the store. The number of streams that hold rows is bounded:
    /// others wait.
    private func fetch(_ stream: EventStream) {
        stream.mode = .reading
        if isRowHoldersFull, let idle = pausedHolder { dropRows(of: idle) }
        if isRowHoldersFull { awaitingRows.append(stream) } else { ask(stream) }
    }

    /// Streams that may hold rows from the store at once, each about a mebibyte.
    private static let mostRowHolders = 16

    private var isRowHoldersFull: Bool { rowHolders.count >= Self.mostRowHolders }

    /// A stream whose rows are not needed before its client has read on; nil if there is none.
    private var pausedHolder: EventStream? {
        rowHolders.lazy.compactMap { self.streams[$0] }.first { $0.mode == .paused }
    }

    private func ask(_ stream: EventStream) {
        rowHolders.append(stream.id)
        let id = stream.id
        let inbox = inbox
        if stream.readsHistory, let mark = stream.history.first {
            service.replayer.rows(ofEventsTo: mark, after: stream.cursor.position) { inbox.post(.rows(stream: id, $0)) }
        } else {
            service.replayer.rows(after: stream.cursor.position) { inbox.post(.rows(stream: id, $0)) }
        }
    }

    /// Drops a stream's rows, and gives its place as a row holder to the next stream that waits for rows.
    func dropRows(of stream: EventStream) {
        stream.rows = []
        rowHolderLeft(stream.id)
    }

    /// Gives the place of a row holder, if the stream was one, to the next stream that waits for one.
    private func rowHolderLeft(_ id: UInt64) {
        rowHolders.removeAll { $0 == id }
        while !isRowHoldersFull, let next = awaitingRows.popFirst() {
            if next.mode == .reading, streams[next.id] != nil { ask(next) }
        }
    }

    /// Takes the rows that a stream asked for.
    func received(_ result: Result<StoredRows, StoreError>, forID id: UInt64) {
        // The stream has ended meanwhile.
        guard let stream = streams[id], stream.mode == .reading else { return rowHolderLeft(id) }
        switch result {
        case .success(let found) where !found.rows.isEmpty && (found.isWhole || !stream.reportsGaps):
            stream.rows = found.rows[...]
            goOn(stream)
        case .success(let found):
            dropRows(of: stream)
            if !found.isWhole && stream.reportsGaps { return endWithGap(stream) }
            if stream.readsHistory {
                // The stream shows the history from the beginning, and these events have been deleted since.
                stream.cursor.advance(to: stream.history.first ?? 0)
                return goOn(stream)
            }
            if stream.cursor.position < service.horizon { return endWithGap(stream) }
            // The disk held no further rows: those that came since the read began are in memory.
            guard !stream.cursor.covers(found.through) else { return tryLater(stream) }
            stream.cursor.advance(to: found.through)
            goOn(stream)
        case .failure:
            dropRows(of: stream)
            // The store can't be read, which its own checks report.
            tryLater(stream)
        }
    }

    /// Queues a stream that can't read on for another try; ends it if it is overdue.
    private func tryLater(_ stream: EventStream) {
        if stream.isOverdue { return finish(stream) }
        stream.mode = .reading
        failed.append(stream)
    }

    /// Ends a stream whose next rows are no longer kept, after reporting the gap to its client.
    private func endWithGap(_ stream: EventStream) {
        switch stream.sink {
        case .stream(let detached):
            detached.send(stream.channel.key.format.gap(since: stream.cursor.id))
            finish(stream)
        case .probe:
            cut(stream)
        case .poll, .closed:
            finish(stream)
        }
    }
}

/// The rows that a loop decoded last, and the portions that it made of them for streams that are behind, which often
/// need the same ones within a round. A stream whose client takes a little at a time needs a row again in the next
/// rounds.
struct CatchUpCache {
    private struct Portion {
        var channel: StreamChannel
        var after: StreamCursor
        var portion: StreamPortion
    }

    private var rows: [RowEvents] = []
    private var portions: [Portion] = []
    /// Whether a row was asked for in this round.
    private var isUsed = false
    /// The end of the last round in which a row was asked for, in monotonic nanoseconds.
    private var usedAt: Int64 = 0

    /// The most rows, and the most portions, that are kept.
    private static let mostKept = 8
    /// The most rows that are kept from one round to the next: decoded, a row may take some megabytes.
    private static let mostKeptOn = 2
    /// The nanoseconds for which rows are kept that nobody asks for.
    private static let longestUnused: Int64 = 100_000_000

    /// Returns the events of `row`; nil unless they were decoded lately.
    mutating func events(of row: LogRow) -> RowEvents? {
        isUsed = true
        return rows.first { $0.row.first == row.first && $0.row.last == row.last }
    }

    /// Keeps a row's events, in place of the oldest.
    mutating func keep(_ events: RowEvents) {
        if rows.count == Self.mostKept { rows.removeFirst() }
        rows.append(events)
    }

    /// Drops what the next round does not need.
    mutating func endRound(at now: Int64) {
        portions = []
        if isUsed {
            (isUsed, usedAt) = (false, now)
            rows.removeFirst(max(0, rows.count - Self.mostKeptOn))
        } else if now - usedAt > Self.longestUnused {
            rows = []
        }
    }

    /// Returns the portion that streams of `channel` at `after` get next; nil unless it was made lately.
    func portion(of channel: StreamChannel, after: StreamCursor) -> StreamPortion? {
        portions.first { $0.channel === channel && $0.after == after }?.portion
    }

    /// Keeps a portion, in place of the oldest.
    mutating func keep(_ portion: StreamPortion, of channel: StreamChannel, after: StreamCursor) {
        if portions.count == Self.mostKept { portions.removeFirst() }
        portions.append(Portion(channel: channel, after: after, portion: portion))
    }

    /// Drops everything.
    mutating func removeAll() { (rows, portions) = ([], []) }
}
