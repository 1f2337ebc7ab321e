import HTTPServer
import Platform
import TimerCore
import TimerLog
import TimerService

/// Every stream and long poll of one loop: finds those that a new row concerns, and feeds them, a bounded number of
/// sends a turn.
final class StreamTable {
    private let service: TimerService
    private let inbox: LoopInbox
    private let siphash: SipHash
    private let heartbeat: Int64
    private let onPollAnswered: (EventStream, _ status: Int, _ bytes: Int) -> Void
    private var streams: [UInt64: EventStream] = [:]
    private var byTimer: [UInt64: [UInt64]] = [:]
    private var untargeted: Set<UInt64> = []
    /// Long polls, and when the first of them is over, by the monotonic clock in nanoseconds.
    private var polls: Set<UInt64> = []
    private(set) var nextDeadline: Int64?
    private var queue: [EventStream] = []
    private var nextID: UInt64 = 1
    /// Rows up to here have been looked at.
    private var seen: Int64
    /// Records of rows decoded in this turn.
    private var decoded: [Int64: [LogRecord]] = [:]
    /// Events rendered in this turn.
    private var rendered: [Int64: (ndjson: [UInt8]?, sse: [UInt8]?)] = [:]

    /// Most sends of one turn, so that a broadcast to thousands leaves room for requests.
    private static let sendsPerTurn = 256
    /// Polls end on multiples of this, in nanoseconds.
    private static let deadlineGrain: Int64 = 10_000_000
    /// A stream's client may lag this many bytes before its stream stops reading.
    private static let bufferBytes = 64 * 1024

    init(
        _ service: TimerService, _ inbox: LoopInbox, heartbeatMilliseconds: Int64,
        onPollAnswered: @escaping (EventStream, _ status: Int, _ bytes: Int) -> Void
    ) {
        self.service = service
        self.inbox = inbox
        self.onPollAnswered = onPollAnswered
        siphash = service.engine.siphash
        heartbeat = heartbeatMilliseconds * 1_000_000
        seen = service.hub.head
    }

    /// How many streams and polls there are.
    var count: Int { streams.count }

    /// Adds a stream that is ready to send.
    func add(_ plan: StreamPlan, _ sink: EventStream.Sink, origin: StreamOrigin) {
        let stream = EventStream(id: nextID, plan: plan, sink: sink, origin: origin, now: Clocks.monotonic())
        nextID += 1
        streams[stream.id] = stream
        switch sink {
        case .stream(let detached): detached.context = stream
        case .poll(let parked): parked.context = stream
        case .closed: return
        }
        if let timer = plan.filter.timer {
            byTimer[timer.hash, default: []].append(stream.id)
        } else {
            untargeted.insert(stream.id)
        }
        if let deadline = stream.deadline {
            polls.insert(stream.id)
            note(deadline: deadline)
        }
        enqueue(stream)
        inbox.wake()
    }

    private func enqueue(_ stream: EventStream) {
        guard !stream.isQueued else { return }
        stream.isQueued = true
        queue.append(stream)
    }

    /// Forgets a stream whose client has gone or that has ended.
    func remove(_ stream: EventStream) {
        stream.sink = .closed
        guard streams.removeValue(forKey: stream.id) != nil else { return }
        polls.remove(stream.id)
        untargeted.remove(stream.id)
        guard let hash = stream.filter.timer?.hash else { return }
        byTimer[hash]?.removeAll { $0 == stream.id }
        if byTimer[hash]?.isEmpty ?? false { byTimer[hash] = nil }
    }

    /// The client has read what was buffered.
    func resume(_ stream: EventStream) {
        guard stream.mode == .paused else { return }
        stream.mode = .live
        enqueue(stream)
        feed()
    }

    /// Looks at new rows and feeds the streams they concern.
    func rowsPublished() {
        guard !streams.isEmpty else {
            seen = service.hub.head
            return
        }
        guard let (rows, _) = service.hub.rows(after: seen) else {
            // The rows have left memory already: every stream reads on for itself.
            seen = service.hub.head
            for stream in streams.values { enqueue(stream) }
            return feed()
        }
        for row in rows {
            seen = row.last
            for id in untargeted { streams[id].map(enqueue) }
            guard !byTimer.isEmpty else { continue }
            for record in records(of: row) where record.isEvent {
                let key = TimerKey(definition: row.data.span.extracting(record.definition), siphash: siphash)
                for id in byTimer[key.hash] ?? [] { streams[id].map(enqueue) }
            }
        }
        feed()
    }

    /// Feeds the streams in the queue; what is over the turn's share waits for the next.
    func feed() {
        var sends = 0
        var index = 0
        while index < queue.count && sends < Self.sendsPerTurn {
            let stream = queue[index]
            index += 1
            stream.isQueued = false
            advance(stream, &sends)
        }
        queue.removeFirst(index)
        decoded.removeAll(keepingCapacity: true)
        rendered.removeAll(keepingCapacity: true)
        if !queue.isEmpty { inbox.wake() }
    }

    private func advance(_ stream: EventStream, _ sends: inout Int) {
        guard stream.mode == .live else { return }
        if case .closed = stream.sink { return }
        if let next = stream.history.first(where: { $0 > stream.cursor }) {
            stream.history = stream.history.drop { $0 <= stream.cursor }
            return fetch(stream, holding: next)
        }
        stream.history = []
        guard let (rows, through) = service.hub.rows(after: stream.cursor) else { return fetch(stream, holding: nil) }
        for row in rows {
            guard show(row, to: stream, &sends) else { return }
            if sends >= Self.sendsPerTurn { return enqueue(stream) }
        }
        stream.cursor = max(stream.cursor, through)
        if let end = stream.end, stream.cursor >= end { finish(stream) }
    }

    private func fetch(_ stream: EventStream, holding position: Int64?) {
        stream.mode = .replaying
        stream.readFloor = service.hub.floor
        let id = stream.id
        let inbox = inbox
        if let position {
            service.replayer.row(holding: position) { inbox.post(.row(stream: id, $0)) }
        } else {
            service.replayer.row(after: stream.cursor) { inbox.post(.row(stream: id, $0)) }
        }
    }

    /// A row from the store arrived.
    func received(_ result: Result<LogRow?, StoreError>, for id: UInt64) {
        guard let stream = streams[id], stream.mode == .replaying else { return }
        stream.mode = .live
        switch result {
        case .success(let row?):
            if row.previous > stream.cursor && stream.cursor < service.horizon && stream.history.isEmpty {
                return loseTrack(stream)
            }
            var sends = 0
            guard show(row, to: stream, &sends) else { return }
            enqueue(stream)
        case .success(nil):
            if stream.cursor < service.horizon { return loseTrack(stream) }
            // Nothing more was on disk: what came since the read began is in memory.
            stream.history = []
            stream.cursor = max(stream.cursor, stream.readFloor)
            enqueue(stream)
        case .failure:
            // Storage fails to read: `tick` tries again.
            stream.mustRetry = true
            return
        }
        feed()
    }

    /// What the stream needs is no longer kept: tells so, and ends it.
    private func loseTrack(_ stream: EventStream) {
        if case .stream(let detached) = stream.sink {
            detached.send(EventJSON.gap(since: stream.cursor, as: stream.format))
        }
        finish(stream)
    }

    private func records(of row: LogRow) -> [LogRecord] {
        if let known = decoded[row.first] { return known }
        var records: [LogRecord] = []
        // By the header: a condensed row spans positions that nobody was given.
        records.reserveCapacity(BatchHeader(row.data.span)?.records ?? 0)
        // A row that was written here or verified at start decodes; one damaged since shows nothing more.
        _ = try? BatchRows.read(row) { record in
            records.append(record)
            return true
        }
        decoded[row.first] = records
        return records
    }

    /// Sends what passes the filter. Returns whether the stream goes on to the next row now.
    private func show(_ row: LogRow, to stream: EventStream, _ sends: inout Int) -> Bool {
        for record in records(of: row) where record.position > stream.cursor {
            if let end = stream.end, record.position > end {
                finish(stream)
                return false
            }
            stream.cursor = record.position
            if stream.filter.accepts(record, row.data) {
                sends += 1
                send(record, row, to: stream)
                stream.left -= 1
            }
            if stream.left == 0 || isLast(record, row, for: stream) {
                finish(stream)
                return false
            }
            if stream.isFull(Self.bufferBytes) {
                stream.mode = .paused
                return false
            }
        }
        // A condensed row spans more positions than it has records.
        stream.cursor = max(stream.cursor, row.last)
        guard let end = stream.end, stream.cursor >= end else { return true }
        finish(stream)
        return false
    }

    /// Whether no event can follow for a stream of one timer: the timer was deleted, or ended for good under a poll.
    private func isLast(_ record: LogRecord, _ row: LogRow, for stream: EventStream) -> Bool {
        guard let timer = stream.filter.timer, case .event(let type, _, _) = record.content else { return false }
        let endsForGood = stream.isPoll && !stream.isRestartable && (type == .completed || type == .cancelled)
        // A deletion before the stream began was that of an earlier timer of this id.
        let isGone = type == .deleted && record.position > stream.begunAt
        return (isGone || endsForGood) && timer.names(row.data.span.extracting(record.definition))
    }

    private func send(_ record: LogRecord, _ row: LogRow, to stream: EventStream) {
        stream.lastSent = Clocks.monotonic()
        switch stream.sink {
        case .stream(let detached):
            detached.send(rendering(record, row, stream.format))
        case .poll(let parked):
            var body = rendering(record, row, .ndjson)
            body.removeLast()
            parked.response.body = body
            answer(stream, parked, status: 200)
        case .closed:
            break
        }
    }

    private func rendering(_ record: LogRecord, _ row: LogRow, _ format: StreamFormat) -> [UInt8] {
        var known = rendered[record.position] ?? (nil, nil)
        if let bytes = format == .ndjson ? known.ndjson : known.sse { return bytes }
        let bytes = EventJSON.render(record, row.data, as: format)
        if format == .ndjson { known.ndjson = bytes } else { known.sse = bytes }
        rendered[record.position] = known
        return bytes
    }

    private func answer(_ stream: EventStream, _ parked: ParkedAnswer, status: Int) {
        parked.response.status = status
        parked.response.add("Request-Id", stream.origin.requestID)
        parked.response.add("Event-Id", EventID.text(stream.cursor))
        parked.response.add("Cache-Control", "no-store")
        if status == 200 { parked.response.add("Content-Type", "application/json") }
        remove(stream)
        onPollAnswered(stream, status, parked.response.body.count)
        parked.send()
    }

    /// Ends a stream properly; a poll that has nothing gets 204.
    func finish(_ stream: EventStream) {
        switch stream.sink {
        case .stream(let detached):
            remove(stream)
            detached.finish()
        case .poll(let parked):
            answer(stream, parked, status: 204)
        case .closed:
            break
        }
    }

    /// Ends every stream.
    func finishAll() { for stream in Array(streams.values) { finish(stream) } }

    /// Ends the polls whose time is over.
    func endPolls(_ now: Int64) {
        nextDeadline = nil
        for id in polls {
            guard let stream = streams[id], let deadline = stream.deadline else { continue }
            if now >= deadline { finish(stream) } else { note(deadline: deadline) }
        }
    }

    /// Deadlines that come close together are one: a loop with many polls wakes at most so often for them.
    private func note(deadline: Int64) {
        let rounded = (deadline + Self.deadlineGrain - 1) / Self.deadlineGrain * Self.deadlineGrain
        nextDeadline = min(nextDeadline ?? .max, rounded)
    }

    /// Sends signs of life, and retries reads that failed.
    func tick(_ now: Int64) {
        for stream in Array(streams.values) {
            if stream.isPoll { continue }
            if stream.mustRetry {
                stream.mustRetry = false
                enqueue(stream)
            }
            guard now - stream.lastSent >= heartbeat, case .stream(let detached) = stream.sink,
                stream.mode != .paused
            else { continue }
            stream.lastSent = now
            if stream.mode == .replaying { continue }
            if !stream.isQueued { stream.cursor = max(stream.cursor, seen) }
            detached.send(EventJSON.heartbeat(examined: stream.cursor, as: stream.format))
        }
        feed()
    }
}
