import HTTPServer
import Platform
import TimerCore
import TimerLog
import TimerService

/// Every stream and long poll of one loop.
///
/// The loop passes over each new row once. A stream that has seen all rows is *in step*: it is sent the bytes that
/// are made once for all of its channel. A stream that begins further back, or whose client reads too slowly, is
/// *behind*: it reads rows for itself, from memory or the store, until it is in step. All streams together get a
/// bounded time of a round, so that requests are served between the parts of a broadcast to thousands.
final class StreamTable {
    let service: TimerService
    /// The rows that were decoded last, shared with the other loops.
    let newest: NewestRows
    let inbox: LoopInbox
    let heartbeat: Int64
    let onPollAnswered: (StreamOrigin, _ status: Int, _ bytes: Int) -> Void
    private(set) var streams: [UInt64: EventStream] = [:]
    private var nextID: UInt64 = 1
    private var channels = StreamChannels()
    /// Rows up to `seen` have been passed, or are in the present pass; streams in step have been
    /// shown those up to `passed`.
    private(set) var seen: StreamCursor
    private(set) var passed: StreamCursor
    private var pass: StreamPass?
    /// Streams in step that have an end.
    var bounded: [EventStream] = []
    /// Streams that are behind and can read on.
    var queue: FIFO<EventStream> = FIFO()
    /// The ids of the streams that have asked the store for rows, or hold rows from it; `awaitingRows` are queued for a
    /// place. A paused one gives its place up where it is needed, or at a heartbeat.
    var rowHolders: [UInt64] = []
    var awaitingRows: FIFO<EventStream> = FIFO()
    /// Streams whose rows could not be read; they try again.
    var failed: [EventStream] = []
    /// Rows decoded, and portions made, lately.
    var recent = CatchUpCache()
    /// Whether the server stops. Streams that end for that do not unsubscribe, so that their clients get time to come
    /// back after the next start.
    var isDraining = false
    /// Whether an operator has drained the server, after the rows up to `passed`; and what rows of the present pass say of that.
    private var isDrained = false
    private var drains: [Bool] = []
    var beats: DueRing
    /// Streams that are due for a heartbeat.
    var beatsDue: [EventStream] = []
    var polls: DueRing
    /// Polls that are to end without an event.
    private var pollsToEnd: [EventStream] = []

    /// The nanoseconds of a round that streams may take.
    private static let roundNs: Int64 = 1_000_000
    /// The bytes that may be buffered for a client before its stream stops reading.
    static let bufferBytes = 64 * 1024
    /// The divisor of the time between heartbeats that gives their precision.
    private static let heartbeatGrains: Int64 = 16
    /// The nanoseconds to whose multiples the ends of polls are rounded up.
    private static let pollGrain: Int64 = 10_000_000

    init(
        _ service: TimerService, _ newest: NewestRows, _ inbox: LoopInbox, heartbeatMilliseconds: Int64,
        onPollAnswered: @escaping (StreamOrigin, _ status: Int, _ bytes: Int) -> Void
    ) {
        self.service = service
        self.newest = newest
        self.inbox = inbox
        self.onPollAnswered = onPollAnswered
        heartbeat = heartbeatMilliseconds * 1_000_000
        seen = StreamCursor(0)
        passed = seen
        let now = Clocks.monotonic()
        beats = DueRing(width: max(Self.pollGrain, heartbeat / Self.heartbeatGrains), count: 20, now: now)
        polls = DueRing(width: Self.pollGrain, count: 500, now: now)
    }

    var isEmpty: Bool { streams.isEmpty }

    // MARK: Adding and removing

    /// Adds a stream whose connection was taken over.
    ///
    /// - Parameter ticket: the request, of a stream that another server may go on with.
    func add(
        _ plan: StreamPlan, _ sink: EventStream.Sink, _ credential: Credential? = nil, origin: StreamOrigin? = nil,
        ticket: Ticket? = nil
    ) {
        let now = Clocks.monotonic()
        if streams.isEmpty { resetForFirstStream() }
        let channel = channels.retain(StreamChannel.Key(filter: plan.filter, format: plan.format))
        let stream = EventStream(
            id: nextID, plan: plan, table: self, channel: channel, sink: sink, origin: origin, credential: credential,
            ticket: ticket, now: now)
        nextID += 1
        streams[stream.id] = stream
        if stream.isHistory { service.histories.begin() }
        switch sink {
        case .stream(let detached): detached.producer = stream
        case .poll(let parked): parked.producer = stream
        case .probe: break
        case .closed: return
        }
        if let timer = stream.subscription { service.log.value?.engine.subscribe(timer) }
        if let deadline = stream.deadline {
            polls.insert(stream, at: deadline)
        } else {
            beats.insert(stream, at: now + heartbeat / 2)
        }
        goOn(stream)
    }

    /// Removes a stream that has ended or whose client has disconnected.
    ///
    /// - Parameter unsubscribes: false where the log is lost, and with it the count of the subscribers.
    func remove(_ stream: EventStream, unsubscribes: Bool = true) {
        stream.sink = .closed
        guard streams.removeValue(forKey: stream.id) != nil else { return }
        if stream.isHistory { service.histories.end() }
        if let timer = stream.subscription, unsubscribes, !isDraining { service.log.value?.engine.unsubscribe(timer) }
        if stream.isPoll { polls.remove(stream) } else { beats.remove(stream) }
        if stream.mode == .inStep { stream.channel.leave(stream, for: .behind) }
        // A stream that waits for the store keeps its place among the row holders until the rows come.
        if stream.mode != .reading { dropRows(of: stream) }
        channels.release(stream.channel)
    }

    /// Resumes a stream whose client has read all that was buffered.
    func resume(_ stream: EventStream) {
        if stream.mode == .paused { goOn(stream) }
    }

    /// Queues a stream that is not in step to read on.
    func goOn(_ stream: EventStream) {
        stream.mode = .behind
        queue.append(stream)
        inbox.wake()
    }

    /// Makes a stream that has seen every row up to `seen` a member of its channel. The present pass
    /// has nothing new for it.
    func join(_ stream: EventStream) {
        if stream.isOverdue || stream.end.map({ stream.cursor.covers($0) }) ?? false { return finish(stream) }
        stream.channel.join(stream)
        if stream.end != nil { bounded.append(stream) }
    }

    /// Ends the streams in step whose end was passed without an event for them.
    private func endBounded() {
        bounded.removeAll { stream in
            if stream.mode == .inStep, let end = stream.end, passed.covers(end) { finish(stream) }
            return stream.mode != .inStep
        }
    }

    // MARK: A round

    /// Passes over new rows, lets streams that are behind read on, sends heartbeats and ends polls: a step of each in turn,
    /// for a bounded time.
    func feed() {
        guard !streams.isEmpty else { return forget() }
        let began = Clocks.monotonic()
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
            if let poll = pollsToEnd.popLast() {
                isBusy = true
                expire(poll)
            }
            if isBusy && Clocks.monotonic() >= began + Self.roundNs { return inbox.wake() }
        }
        recent.endRound(at: began)
    }

    /// Drops everything that was kept for streams, once the last one has left.
    private func forget() {
        pass = nil
        recent.removeAll()
        (queue, awaitingRows, failed, beatsDue, bounded) = (FIFO(), FIFO(), [], [], [])
        (pollsToEnd, drains) = ([], [])
    }

    /// Resets the table for its first stream: the rows that the feed has published count as passed.
    private func resetForFirstStream() {
        forget()
        seen = StreamCursor(service.feed.head)
        passed = seen
        isDrained = service.isDrained
    }

    /// Takes the pass one step further, or begins the next one. Returns false if there are no new rows.
    private func passOn() -> Bool {
        guard var pass = pass.take() ?? nextPass() else { return false }
        // The pass is out of `self.pass` during its step: the step shows portions, which may end streams.
        if pass.step(show: { portion, stream in show(portion, to: stream) }) {
            self.pass = pass
        } else {
            passed = seen
            for isDrained in drains { follow(isDrained: isDrained) }
            drains = []
            if !bounded.isEmpty { endBounded() }
        }
        return true
    }

    /// Returns a pass over the new rows, up to `bytesPassed` of them, so that rows which come during a pass are shown
    /// in fewer, larger portions; nil if there are none.
    private func nextPass() -> StreamPass? {
        var rows: [RowEvents] = []
        var bytes = 0
        let begun = seen
        var reading = service.feed.reading(after: seen.position)
        gathering: while bytes < Self.bytesPassed {
            switch reading.next() {
            case .row(let row):
                guard let events = events(of: row, isNew: true) else { fallthrough }
                rows.append(events)
                if let isDrained = events.isDrained { drains.append(isDrained) }
                bytes += row.data.count
                seen = StreamCursor(row.last)
            case .gone:
                // The row left memory before this loop saw it, or is damaged: every stream reads on for itself, once it
                // has been shown the rows passed before.
                guard rows.isEmpty else { break gathering }
                leaveStep()
                return nil
            case .none(let newest):
                seen.advance(to: newest)
                break gathering
            }
        }
        guard !rows.isEmpty || seen > begun else { return nil }
        return StreamPass(over: rows, through: seen, for: channels, siphash: service.siphash)
    }

    /// Bytes of rows that one pass takes.
    private static let bytesPassed = BatchRows.maximumRowBytes

    /// Makes every stream with mode `inStep` fall behind, so that it reads rows for itself.
    private func leaveStep() {
        for stream in streams.values where stream.mode == .inStep {
            stream.cursor = max(stream.cursor, passed)
            stream.channel.leave(stream, for: .behind)
            goOn(stream)
        }
        seen = StreamCursor(service.feed.head)
        passed = seen
        follow(isDrained: service.isDrained)
    }

    /// Sends a stream its share of a portion. Returns whether the stream can go on.
    @discardableResult
    func show(_ portion: StreamPortion, to stream: EventStream) -> Bool {
        let share = portion.share(of: stream)
        stream.cursor = share.cursor
        stream.left -= share.count
        if let chunk = share.chunk {
            stream.reportsGaps = true
            switch stream.sink {
            case .stream(let detached):
                stream.lastSent = Clocks.monotonic()
                detached.send(chunk)
            case .poll(let parked):
                // One event, without the newline.
                parked.response.body = Array(chunk.bytes.dropLast())
                answerPoll(stream, parked, status: 200)
                return false
            case .probe(let ticket):
                answerProbe(stream, ticket, hasEvent: true)
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
        if !awaitingRows.isEmpty { dropRows(of: stream) }
        return false
    }
}

/// Heartbeats, the time limits of long polls, and reads that are tried again.
extension StreamTable {
    /// The next instant at which a heartbeat or the end of a poll is due.
    var nextDeadline: Int64? {
        guard let beat = beats.next else { return polls.next }
        return min(beat, polls.next ?? .max)
    }

    /// Ends the polls whose time is over, and sends heartbeats.
    func deadlineCame(_ now: Int64) {
        for poll in polls.take(now: now) {
            if let deadline = poll.deadline, now < deadline { polls.insert(poll, at: deadline) } else { expire(poll) }
        }
        beatsDue += beats.take(now: now)
        feed()
    }

    /// Ends a poll without an event, once it has examined all rows.
    private func expire(_ poll: EventStream) {
        // An event for it may be among the rows that it has not examined yet.
        if poll.mode == .inStep { finish(poll) } else { poll.isOverdue = true }
    }

    /// Ends the polls that are open once the row is passed that drains the server, and all fires before it: their clients may
    /// ask the server that the timers move to. A poll that begins later waits for its timeout, or a client that repeats it
    /// would do so without a pause.
    private func follow(isDrained: Bool) {
        defer { self.isDrained = isDrained }
        // A drain is recorded again where its row is to be deleted.
        guard isDrained, !self.isDrained else { return }
        pollsToEnd = streams.values.filter(\.isPoll)
        inbox.wake()
    }

    /// Sends a heartbeat on a stream on which nothing was sent for a while. A stream whose client
    /// has vanished is aborted.
    func beat(_ stream: EventStream) {
        guard case .stream(let detached) = stream.sink else { return }
        if detached.isUnacknowledged(milliseconds: heartbeat / 1_000_000) { return detached.abort() }
        let now = Clocks.monotonic()
        if now - stream.lastSent >= heartbeat {
            stream.lastSent = now
            // The client of a paused stream has bytes to read.
            if stream.mode == .paused {
                dropRows(of: stream)
            } else {
                let format = stream.channel.key.format
                let id = examined(stream).id
                detached.send(stream.isOfPeer ? format.heartbeatToServer(id) : format.heartbeat(id))
            }
        }
        beats.insert(stream, at: min(stream.lastSent + heartbeat, now + heartbeat / 2))
    }

    /// Queues the streams whose rows could not be read for another try.
    func retryReads() {
        let again = failed
        failed = []
        for stream in again { goOn(stream) }
    }
}
