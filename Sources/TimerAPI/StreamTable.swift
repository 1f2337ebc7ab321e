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
    private let heartbeat: Int64
    private let onPollAnswered: (StreamOrigin, _ status: Int, _ bytes: Int) -> Void
    private(set) var streams: [UInt64: EventStream] = [:]
    private var nextID: UInt64 = 1
    private var channels = StreamChannels()
    /// Rows up to here have been passed.
    private(set) var seen: Int64
    /// Portions of rows that were passed, for the channels' members; a portion's last members are handed theirs first.
    private var portions: FIFO<(StreamChannel, StreamPortion)> = FIFO()
    private var handing: (channel: StreamChannel, portion: StreamPortion, left: Int)?
    /// Streams in step that end at a position.
    private var bounded: [EventStream] = []
    /// Streams that are behind, and may go on.
    var queue: FIFO<EventStream> = FIFO()
    /// How many streams have asked the store for rows, or hold what they got; and those whose turn comes then.
    var holders = 0
    var wanting: FIFO<EventStream> = FIFO()
    /// Those whose rows could not be read.
    var failed: [EventStream] = []
    /// Rows decoded lately: streams that are behind come to the same ones.
    var recent: [RowEvents] = []
    private var beats: DueRing
    /// Streams whose turn for a heartbeat has come.
    private var beating: [EventStream] = []
    private var polls: DueRing

    /// Nanoseconds of a turn that streams may take.
    private static let turnNs: Int64 = 1_000_000
    /// A stream's client may lag this many bytes before its stream stops reading.
    static let bufferBytes = 64 * 1024
    /// A quarter of a heartbeat exact, and checked twice as often as they are sent.
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
        seen = service.hub.head
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
        if stream.isPoll { polls.remove(stream) } else { beats.remove(stream) }
        if stream.mode == .inStep { stream.channel.leave(stream, for: .behind) }
        dropRows(of: stream)
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
        if stream.isOverdue || stream.end.map({ stream.cursor >= $0 }) ?? false { return finish(stream) }
        stream.channel.join(stream)
        if stream.end != nil { bounded.append(stream) }
    }

    /// Ends the streams in step whose end was passed with nothing for them.
    private func endBounded() {
        bounded.removeAll { stream in
            if stream.mode == .inStep, let end = stream.end, seen >= end { finish(stream) }
            return stream.mode != .inStep
        }
    }

    // MARK: A turn

    /// Passes over new rows and gives every stream that can go on some of what it is to show, for a bounded time.
    func feed() {
        guard !streams.isEmpty else {
            seen = service.hub.head
            return
        }
        let until = Clocks.monotonic() + Self.turnNs
        var isBusy = true
        while isBusy {
            isBusy = !handOut(until: until) || passRows()
            if !isBusy && !bounded.isEmpty { endBounded() }
            if let stream = queue.popFirst() {
                isBusy = true
                readOn(stream)
            }
            if let stream = beating.popLast() {
                isBusy = true
                beat(stream)
            }
            if isBusy && Clocks.monotonic() >= until { return inbox.wake() }
        }
        recent = []
    }

    /// Makes of the new rows what each channel is to show of them: of all there are, so that members who take long to
    /// be handed one portion find the next one larger. Returns false where there are none.
    private func passRows() -> Bool {
        var touched: [StreamChannel] = []
        var bytes = 0
        passing: while bytes < Self.bytesPassed {
            switch service.hub.row(after: seen) {
            case .row(let row):
                guard let events = events(of: row) else { fallthrough }
                pass(events, &touched)
                bytes += row.data.count
                seen = row.last
            case .gone:
                // It left memory before this loop came to it, or is damaged: every stream reads on for itself, once it
                // has what was passed before.
                if touched.isEmpty { leaveStep() }
                bytes = .max
            case .none(let newest):
                seen = max(seen, newest)
                break passing
            }
        }
        for channel in touched where !channel.draft.isEmpty { owe(channel, through: seen) }
        return bytes > 0
    }

    /// Bytes of rows after which those that were passed are handed out.
    private static let bytesPassed = BatchRows.maximumRowBytes

    private func pass(_ row: RowEvents, _ touched: inout [StreamChannel]) {
        func take(_ index: Int, _ channel: StreamChannel) {
            let wasEmpty = channel.draft.isEmpty
            channel.draft.take(index, of: row)
            if wasEmpty && !channel.draft.isEmpty { touched.append(channel) }
            if channel.draft.isFull { owe(channel, through: row.events[index].position) }
        }
        let siphash = service.engine.siphash
        let hasTimers = channels.hasTimers
        let data = row.row.data
        for index in row.events.indices {
            for channel in channels.general where !channel.members.isEmpty { take(index, channel) }
            guard hasTimers else { continue }
            let definition = data.span.extracting(row.events[index].definition)
            let hash = TimerKey.hash(definition: definition, siphash: siphash)
            for channel in channels.ofTimer(hash) { take(index, channel) }
        }
    }

    private func leaveStep() {
        for stream in streams.values where stream.mode == .inStep {
            stream.cursor = max(stream.cursor, seen)
            stream.channel.leave(stream, for: .behind)
            goOn(stream)
        }
        seen = service.hub.head
    }

    private func owe(_ channel: StreamChannel, through position: Int64) {
        let portion = channel.draft.finish(through: position)
        guard !channel.members.isEmpty else { return }
        channel.owed += 1
        portions.append((channel, portion))
    }

    /// Hands the portions to the members of their channels. Returns whether all have theirs.
    private func handOut(until deadline: Int64) -> Bool {
        while true {
            if handing == nil {
                guard let (channel, portion) = portions.popFirst() else { return true }
                handing = (channel, portion, channel.members.count)
            }
            guard let (channel, portion, left) = handing else { return true }
            // Who left meanwhile gave its seat to one that was handed the portion already.
            var seat = min(left, channel.members.count)
            while seat > 0 {
                seat -= 1
                let stream = channel.members[seat]
                if portion.through > stream.cursor { show(portion, to: stream) }
                seat = min(seat, channel.members.count)
                if Clocks.monotonic() >= deadline {
                    handing?.left = seat
                    return false
                }
            }
            channel.owed -= 1
            handing = nil
        }
    }

    /// Sends a stream its share of a portion. Returns whether it may go on.
    @discardableResult
    func show(_ portion: StreamPortion, to stream: EventStream) -> Bool {
        let share = portion.share(of: stream)
        stream.cursor = share.cursor
        stream.left -= share.count
        if let chunk = share.chunk {
            switch stream.sink {
            case .stream(let detached):
                stream.lastSent = Clocks.monotonic()
                detached.send(chunk)
            case .poll(let parked):
                // One event, without the line's end.
                parked.response.body = Array(chunk.bytes.dropLast())
                answer(stream, parked, status: 200)
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

    // MARK: The end of a stream

    private func answer(_ stream: EventStream, _ parked: ParkedAnswer, status: Int) {
        guard let origin = stream.origin else { return }
        parked.response.status = status
        parked.response.add("Request-Id", origin.requestID)
        parked.response.add("Event-Id", EventID.text(examined(stream)))
        parked.response.add("Cache-Control", "no-store")
        if status == 200 { parked.response.add("Content-Type", "application/json") }
        remove(stream)
        onPollAnswered(origin, status, parked.response.body.count)
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

    /// Ends a stream so that its client sees that something is missing.
    func cut(_ stream: EventStream) {
        guard case .stream(let detached) = stream.sink else { return finish(stream) }
        remove(stream)
        detached.abort()
    }

    /// Ends every stream but those that read a past of known length: theirs is an answer under way, and it would look
    /// complete.
    func drain() {
        for stream in Array(streams.values) where stream.end == nil { finish(stream) }
    }

    /// Up to where a stream has examined everything.
    private func examined(_ stream: EventStream) -> Int64 {
        stream.mode == .inStep && stream.channel.owed == 0 ? max(stream.cursor, seen) : stream.cursor
    }

    // MARK: The passing of time

    /// When something is due next.
    var nextDeadline: Int64? {
        guard let beat = beats.next else { return polls.next }
        return min(beat, polls.next ?? .max)
    }

    /// Ends the polls whose time is over, and sends signs of life.
    func deadlineCame(_ now: Int64) {
        for poll in polls.take(now: now) {
            if let deadline = poll.deadline, now < deadline {
                polls.insert(poll, at: deadline)
            } else if poll.mode == .inStep {
                finish(poll)
            } else {
                // What it asked for may have happened already.
                poll.isOverdue = true
            }
        }
        beating += beats.take(now: now)
        feed()
    }

    /// Sends a stream that was silent a sign of life. One whose client has gone without a word is closed.
    private func beat(_ stream: EventStream) {
        guard case .stream(let detached) = stream.sink else { return }
        if detached.isForsaken(milliseconds: heartbeat / 1_000_000) { return detached.abort() }
        let now = Clocks.monotonic()
        if now - stream.lastSent >= heartbeat {
            stream.lastSent = now
            // One that can't take more has enough to read.
            if stream.mode != .paused {
                detached.send(EventJSON.heartbeat(examined: examined(stream), as: stream.channel.key.format))
            }
        }
        beats.insert(stream, at: min(stream.lastSent + heartbeat, now + heartbeat / 2))
    }

    /// Has those read again whose rows could not be read.
    func retryReads() {
        let again = failed
        failed = []
        for stream in again { goOn(stream) }
    }
}
