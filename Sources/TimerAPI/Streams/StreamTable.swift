import HTTPServer
import Platform
import TimerCore
import TimerLog
import TimerService

/// Every stream and long poll of one loop.
///
/// The loop passes over each new row once. A stream that has seen all of them is *in step*: it gets what its channel
/// gets, made once for all of the channel. One that begins further back, or whose client reads too slowly, is *behind*:
/// it reads rows for itself, from memory or the store, until it is in step. A turn gives all of them a bounded time, so
/// that a broadcast to thousands leaves room for requests.
final class StreamTable {
    let service: TimerService
    let inbox: LoopInbox
    let heartbeat: Int64
    let onPollAnswered: (StreamOrigin, _ status: Int, _ bytes: Int) -> Void
    private(set) var streams: [UInt64: EventStream] = [:]
    private var nextID: UInt64 = 1
    private var channels = StreamChannels()
    /// Rows up to here have been passed, or are being passed; up to `passed` everybody in step has been shown them.
    private(set) var seen: StreamCursor
    private(set) var passed: StreamCursor
    private var pass: StreamPass?
    /// Streams in step that end at a position.
    var bounded: [EventStream] = []
    /// Streams that are behind, and may go on.
    var queue: FIFO<EventStream> = FIFO()
    /// How many streams have asked the store for rows, or hold what they got; and those whose turn comes then.
    var rowHolders = 0
    var awaitingRows: FIFO<EventStream> = FIFO()
    /// Those whose rows could not be read.
    var failed: [EventStream] = []
    /// Rows decoded, and portions made, in this round.
    var recent = CatchUpCache()
    /// Whether streams end because the server does: after the next start their clients get time to come back.
    var isDraining = false
    var beats: DueRing
    /// Streams whose turn for a heartbeat has come.
    var beatsDue: [EventStream] = []
    var polls: DueRing

    /// Nanoseconds of a turn that streams may take.
    private static let roundNs: Int64 = 1_000_000
    /// A stream's client may lag this many bytes before its stream stops reading.
    static let bufferBytes = 64 * 1024
    /// Heartbeats are exact to such a part of the time between them.
    private static let heartbeatGrains: Int64 = 16
    /// Polls end on multiples of this, in nanoseconds.
    private static let pollGrain: Int64 = 10_000_000

    init(
        _ service: TimerService, _ inbox: LoopInbox, heartbeatMilliseconds: Int64,
        onPollAnswered: @escaping (StreamOrigin, _ status: Int, _ bytes: Int) -> Void
    ) {
        self.service = service
        self.inbox = inbox
        self.onPollAnswered = onPollAnswered
        heartbeat = heartbeatMilliseconds * 1_000_000
        seen = StreamCursor(service.hub.head)
        passed = seen
        let now = Clocks.monotonic()
        beats = DueRing(width: max(Self.pollGrain, heartbeat / Self.heartbeatGrains), count: 20, now: now)
        polls = DueRing(width: Self.pollGrain, count: 500, now: now)
    }

    // MARK: Coming and going

    /// Adds a stream that is ready to send.
    func add(_ plan: StreamPlan, _ sink: EventStream.Sink, origin: StreamOrigin? = nil) {
        let now = Clocks.monotonic()
        let channel = channels.retain(StreamChannel.Key(filter: plan.filter, format: plan.format))
        let stream = EventStream(id: nextID, plan: plan, channel: channel, sink: sink, origin: origin, now: now)
        nextID += 1
        streams[stream.id] = stream
        switch sink {
        case .stream(let detached): detached.context = stream
        case .poll(let parked): parked.context = stream
        case .closed: return
        }
        if let timer = stream.subscription { service.engine.subscribe(timer) }
        if let deadline = stream.deadline {
            polls.insert(stream, at: deadline)
        } else {
            beats.insert(stream, at: now + heartbeat / 2)
        }
        goOn(stream)
    }

    /// Forgets a stream whose client has gone or that has ended.
    func remove(_ stream: EventStream) {
        stream.sink = .closed
        guard streams.removeValue(forKey: stream.id) != nil else { return }
        if let timer = stream.subscription, !isDraining { service.engine.unsubscribe(timer) }
        if stream.isPoll { polls.remove(stream) } else { beats.remove(stream) }
        if stream.mode == .inStep { stream.channel.leave(stream, for: .behind) }
        // Rows that were asked for keep their place until they come.
        if stream.mode != .reading { dropRows(of: stream) }
        channels.release(stream.channel)
    }

    /// The client has read what was buffered.
    func resume(_ stream: EventStream) {
        if stream.mode == .paused { goOn(stream) }
    }

    /// Has a stream that is not in step read on.
    func goOn(_ stream: EventStream) {
        stream.mode = .behind
        queue.append(stream)
        inbox.wake()
    }

    /// Takes a stream that has seen everything into its channel; nothing that is being handed out is news to it.
    func join(_ stream: EventStream) {
        if stream.isOverdue || stream.end.map({ stream.cursor.covers($0) }) ?? false { return finish(stream) }
        stream.channel.join(stream)
        if stream.end != nil { bounded.append(stream) }
    }

    /// Ends the streams in step whose end was passed with nothing for them.
    private func endBounded() {
        bounded.removeAll { stream in
            if stream.mode == .inStep, let end = stream.end, passed.covers(end) { finish(stream) }
            return stream.mode != .inStep
        }
    }

    // MARK: A turn

    /// Passes over new rows and gives every stream that can go on some of what it is to show, step by step in turn, for
    /// a bounded time.
    func feed() {
        guard !streams.isEmpty else { return forgetAll() }
        let until = Clocks.monotonic() + Self.roundNs
        var isBusy = true
        while isBusy {
            isBusy = passOn()
            if let stream = queue.popFirst() {
                isBusy = true
                readOn(stream)
            }
            if let stream = beatsDue.popLast() {
                isBusy = true
                beat(stream)
            }
            if isBusy && Clocks.monotonic() >= until { return inbox.wake() }
        }
        recent.removeAll()
    }

    /// Nobody is there: lets everything go that was for those who left.
    private func forgetAll() {
        pass = nil
        recent.removeAll()
        (queue, awaitingRows, failed, beatsDue, bounded) = (FIFO(), FIFO(), [], [], [])
        seen = StreamCursor(service.hub.head)
        passed = seen
    }

    /// Takes the pass one step further, or begins the next. Returns false where there is nothing to pass.
    private func passOn() -> Bool {
        guard var pass = pass.take() ?? nextPass() else { return false }
        // It is not ours while its step runs, which shows portions and so ends streams.
        if pass.step(show: { portion, stream in show(portion, to: stream) }) {
            self.pass = pass
        } else {
            passed = seen
            if !bounded.isEmpty { endBounded() }
        }
        return true
    }

    /// A pass over the rows that are new: over all there are, so that what comes while one is made is shown in fewer,
    /// larger portions.
    private func nextPass() -> StreamPass? {
        var rows: [RowEvents] = []
        var bytes = 0
        gathering: while bytes < Self.bytesPassed {
            switch service.hub.row(after: seen.position) {
            case .row(let row):
                guard let events = events(of: row) else { fallthrough }
                rows.append(events)
                bytes += row.data.count
                seen = StreamCursor(row.last)
            case .gone:
                // It left memory before this loop came to it, or is damaged: every stream reads on for itself, once it
                // has what was passed before.
                if rows.isEmpty { leaveStep() }
                break gathering
            case .none(let newest):
                if !seen.covers(newest) { bytes += 1 }
                seen.advance(to: newest)
                break gathering
            }
        }
        guard bytes > 0 else { return nil }
        return StreamPass(over: rows, through: seen, for: channels, siphash: service.engine.siphash)
    }

    /// Bytes of rows that one pass takes.
    private static let bytesPassed = BatchRows.maximumRowBytes

    private func leaveStep() {
        for stream in streams.values where stream.mode == .inStep {
            stream.cursor = max(stream.cursor, passed)
            stream.channel.leave(stream, for: .behind)
            goOn(stream)
        }
        seen = StreamCursor(service.hub.head)
        passed = seen
    }

    /// Sends a stream its share of a portion. Returns whether it may go on.
    @discardableResult
    func show(_ portion: StreamPortion, to stream: EventStream) -> Bool {
        let share = portion.share(of: stream)
        stream.cursor = share.cursor
        stream.left -= share.count
        if let chunk = share.chunk {
            stream.tellsGaps = true
            switch stream.sink {
            case .stream(let detached):
                stream.lastSent = Clocks.monotonic()
                detached.send(chunk)
            case .poll(let parked):
                // One event, without the line's end.
                parked.response.body = Array(chunk.bytes.dropLast())
                answerPoll(stream, parked, status: 200)
                return false
            case .closed:
                return false
            }
        }
        if share.isLast {
            finish(stream)
            return false
        }
        guard stream.isFull(Self.bufferBytes) else { return true }
        if stream.mode == .inStep { stream.channel.leave(stream, for: .paused) } else { stream.mode = .paused }
        dropRows(of: stream)
        return false
    }
}
