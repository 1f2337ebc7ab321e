import HTTPServer
import Platform
import TimerCore
import TimerLog
import TimerService
import WireJSON

/// An export under way: one timer after the other is copied and written, as fast as the client
/// reads. Confined to its loop.
///
/// An export holds a few lines and its place in the order of timers, no lock and no reader of the store. A line is
/// sent once the records that it rests on are on disk.
final class ExportStream {
    /// The section that is being written.
    private enum Phase {
        case head
        /// Calendars as they are then.
        case calendars
        /// Timers. One that has deliveries to export is followed by them, and then written again.
        case timers
        /// Dead letters, and deliveries of deleted timers.
        case letters
        /// Timers that changed since the export began.
        case changes
        /// Access keys as they are then.
        case keys
        case end
    }

    let id: UInt64
    private let sink: DetachedStream
    /// The log with which the export was begun. Another one may have changes of other servers, so
    /// the export is aborted.
    private let log: ActiveLog
    private var engine: Engine { log.engine }
    private let service: TimerService
    private let inbox: LoopInbox
    private let showsSecrets: Bool
    private let version: String
    private var phase = Phase.head
    private var after: UInt64?
    private var letterAfter: Int64 = 0
    private var walksDead = true
    /// The keys that are left; nil before the first of them is written.
    private var keys: ArraySlice<AccessKey>?
    private var calendars = ExportedCalendars()
    /// The timer whose deliveries are being written, and the deliveries that are left.
    private var group: (key: TimerKey, left: ArraySlice<DeliveryDetail>)?
    private var letters: ArraySlice<DeliveryDetail> = []
    /// Whether a replay thread reads events.
    private var isReading = false
    private var looks = 0
    /// The lines that are written and not sent: they wait until the records that they rest on are on disk.
    private var json = JSONWriter()
    private var written: [UInt8] = []
    /// The bytes of `written` that were sent.
    private var sent = 0
    private var rest: Int64 = 0
    private var lines = 0
    private var isDrained = false
    private var stamp: UInt64 = 0
    /// The newest position when the export was begun.
    private var head: Int64 = 0
    private var silence = ClientSilence(at: Clocks.monotonic())

    /// The bytes that may be buffered for the client before the export stops writing.
    private static let bufferBytes = 256 * 1024
    /// The bytes that are sent at once: those of a few lines may be more than a stream may buffer.
    private static let pieceBytes = 64 * 1024
    /// Deliveries whose events are read at once.
    private static let lettersAtOnce = 16
    /// The most times that the events of deliveries are looked for that compaction moves.
    private static let mostLooks = 4

    init(
        id: UInt64, _ sink: DetachedStream, _ log: ActiveLog, _ service: TimerService, _ inbox: LoopInbox,
        showsSecrets: Bool, version: String
    ) {
        self.id = id
        self.sink = sink
        self.log = log
        self.service = service
        self.inbox = inbox
        self.showsSecrets = showsSecrets
        self.version = version
    }

    /// The result of a step.
    enum Progress {
        /// There is more to do at once.
        case more
        /// The export waits for its client, the disk or the store.
        case waits
        /// The export has ended.
        case over
    }

    /// Sends what is written, or writes a little more.
    func step() -> Progress {
        if sink.isClosed { return .over }
        guard service.log.value === log else { return abort() }
        if isReading { return .waits }
        guard sink.bufferedBytes < Self.bufferBytes else { return .waits }
        if !written.isEmpty || json.count > 0 { return send() }
        switch phase {
        case .head: writeHead()
        case .calendars: writeCalendars()
        case .timers where group != nil: writeGroup()
        case .timers: writeTimers()
        case .letters: writeLetters()
        case .changes: writeChanges()
        case .keys: writeKeys()
        case .end: return end()
        }
        return .more
    }

    private func abort() -> Progress {
        sink.abort()
        return .over
    }

    /// Ends the export without its last line, since the server stops.
    func cancel() { sink.abort() }

    /// Cuts the export if its client has taken nothing for long. Returns whether it was cut.
    func cutIfSilent(now: Int64) -> Bool {
        silence.look(buffered: sink.bufferedBytes, at: now)
        guard silence.isTooLong(at: now) else { return false }
        sink.abort()
        return true
    }

    private func send() -> Progress {
        switch engine.fate(of: rest) {
        case .durable: break
        case .pending: return .waits
        case .lost, .unknown: return abort()
        }
        json.append(0..<json.count, to: &written)
        json.reset(keeping: Self.bufferBytes)
        silence.look(buffered: sink.bufferedBytes, at: Clocks.monotonic())
        let end = min(written.count, sent + Self.pieceBytes)
        sink.send(StreamChunk(written[sent..<end]))
        silence.wrote(buffered: sink.bufferedBytes)
        sent = end
        if sent == written.count {
            written.removeAll(keepingCapacity: true)
            sent = 0
        }
        return .more
    }

    // MARK: The pieces

    private func writeHead() {
        var floor: Int64 = 0
        var at: Int64 = 0
        engine.turn { turn in
            isDrained = turn.isDrained && turn.attemptsUnderWay == 0
            stamp = turn.drainStamp
            head = turn.head
            floor = turn.versionFloor
            at = turn.now.wall
            calendars.add(turn.calendars.all)
            rest = turn.head
        }
        ExportLine.writeHead(
            export: ExportLine.drawID(), version: version, eventID: EventID(service.feed.head), at: at,
            isDrained: isDrained, showsSecrets: showsSecrets, versionFloor: floor, &json)
        lines += 1
        phase = .calendars
    }

    /// Writes a few calendars.
    private func writeCalendars() {
        lines += calendars.write(&json, upTo: APILimits.bytesPerStep)
        if calendars.areWritten { phase = .timers }
    }

    /// Writes timers up to the next one that has deliveries to export.
    private func writeTimers() {
        var views: [TimerView] = []
        var isDone = true
        engine.turn { turn in
            var found: [(place: UInt64, slot: SlotIndex)] = []
            turn.read { (scheduler: borrowing Scheduler) in
                scheduler.walk(after: after, over: .all) { place, slot in
                    guard found.count < APILimits.appliedPerStep else { return false }
                    found.append((place, slot))
                    return true
                }
            }
            turn.noteLooks(found.count)
            isDone = found.count < APILimits.appliedPerStep
            var bytes = 0
            for (index, member) in found.enumerated() {
                var view = TimerView()
                turn.copy(member.slot, into: &view)
                bytes += view.definition.count
                views.append(view)
                calendars.add(of: view, turn)
                after = member.place
                let departing = turn.departing(member.slot)
                if !departing.isEmpty {
                    group = (TimerKey(definition: view.definition.span, siphash: service.siphash), departing[...])
                }
                if group != nil || bytes > APILimits.bytesPerStep {
                    isDone = isDone && index + 1 == found.count && group == nil
                    break
                }
            }
            rest = turn.head
        }
        lines += calendars.write(&json)
        for (index, view) in views.enumerated() {
            let isHeld = group != nil && index + 1 == views.count
            ExportLine.write(view, isHeld: isHeld, isAgain: false, showsSecrets: showsSecrets, &json)
        }
        lines += views.count
        if isDone && group == nil { goOn(to: .letters) }
    }

    private func goOn(to next: Phase) {
        after = nil
        phase = next
    }

    /// Writes deliveries of the timer of the group, and after them the timer once more.
    private func writeGroup() {
        guard let (key, left) = group else { return }
        guard left.isEmpty else { return read(left) }
        var view: TimerView?
        engine.turn { turn in
            if let slot = turn.find(key) {
                var copy = TimerView()
                turn.copy(slot, into: &copy)
                view = copy
                calendars.add(of: copy, turn)
            }
            rest = turn.head
        }
        group = nil
        guard let view else { return }
        lines += calendars.write(&json)
        ExportLine.write(view, isHeld: false, isAgain: true, showsSecrets: showsSecrets, &json)
        lines += 1
    }

    /// Asks a replay thread to read the events of some deliveries and write them.
    private func read(_ left: ArraySlice<DeliveryDetail>) {
        isReading = true
        let (id, inbox, showsSecrets) = (id, inbox, showsSecrets)
        service.replayer.export(
            Array(left.prefix(Self.lettersAtOnce)),
            write: { ExportLine.write($0, showsSecrets: showsSecrets, to: &$1) },
            reply: { inbox.post(.exported(export: id, $0)) })
    }

    /// Takes the lines that a replay thread has written.
    func received(_ result: Result<Replayer.ExportedDeliveries, StoreError>) {
        isReading = false
        guard case .success(let departed) = result else { return sink.abort() }
        written += departed.bytes
        lines += departed.count
        var again: [DeliveryDetail] = []
        if !departed.missing.isEmpty {
            // Compaction has moved the event meanwhile, or the delivery is done.
            looks += 1
            engine.turn { turn in
                again = departed.missing.compactMap { turn.delivery($0) }.map(Turn.withoutAttempt)
            }
            guard again.isEmpty || looks < Self.mostLooks else { return sink.abort() }
        } else {
            looks = 0
        }
        if group != nil {
            let left = group?.left.dropFirst(Self.lettersAtOnce) ?? []
            group?.left = again + left
        } else {
            letters = again + letters.dropFirst(Self.lettersAtOnce)
        }
    }

    /// Writes dead letters, then deliveries whose timers are deleted.
    private func writeLetters() {
        if !letters.isEmpty { return read(letters) }
        var found: [DeliveryDetail] = []
        var examined = 0
        engine.turn { turn in
            turn.walkDeliveries(after: letterAfter, dead: walksDead) { _, detail in
                examined += 1
                letterAfter = detail.id
                if walksDead || detail.slot == nil { found.append(Turn.withoutAttempt(detail)) }
                return examined < APILimits.appliedPerStep
            }
            rest = turn.head
        }
        letters = found[...]
        guard examined < APILimits.appliedPerStep else { return }
        letterAfter = 0
        if walksDead {
            walksDead = false
        } else if letters.isEmpty {
            goOn(to: isDrained ? .keys : .changes)
        } else {
            letterAfter = .max - 1
        }
    }

    /// Writes once more the timers that changed since the export began.
    private func writeChanges() {
        var views: [TimerView] = []
        var isDone = true
        engine.turn { turn in
            var changed: [SlotIndex] = []
            var looks = 0
            var last = after
            turn.read { (scheduler: borrowing Scheduler) in
                scheduler.walk(after: after, over: .all) { place, slot in
                    guard looks < APILimits.examinedPerStep, changed.count < APILimits.appliedPerStep / 4 else {
                        isDone = false
                        return false
                    }
                    looks += 1
                    last = place
                    changed.append(slot)
                    return true
                }
            }
            after = last
            turn.noteLooks(looks)
            for slot in changed where turn.lastRecord(slot) > head {
                var view = TimerView()
                turn.copy(slot, into: &view)
                views.append(view)
            }
            rest = turn.head
        }
        for view in views {
            ExportLine.write(view, isHeld: false, isAgain: true, showsSecrets: showsSecrets, &json)
        }
        lines += views.count
        if isDone { goOn(to: .keys) }
    }

    /// Writes a few keys.
    private func writeKeys() {
        if keys == nil {
            let ring = engine.turn { turn in
                rest = turn.head
                return turn.accessKeys
            }
            // Thousands of keys are sorted outside of the lock.
            keys = ring.all[...]
        }
        guard let some = keys?.prefix(APILimits.appliedPerStep), !some.isEmpty else { return goOn(to: .end) }
        keys = keys?.dropFirst(some.count)
        for key in some {
            KeyLine.write(key, lastUsedAt: service.access.lastUse(of: key), showsSecrets: showsSecrets, &json)
        }
        lines += some.count
    }

    private func end() -> Progress {
        guard service.role == .serving, engine.turn({ $0.drainStamp }) == stamp else {
            // A drain was ended meanwhile, or this server no longer serves, so what was written is not whole.
            return abort()
        }
        ExportLine.writeEnd(lines: lines, &json)
        json.append(0..<json.count, to: &written)
        sink.send(StreamChunk(written))
        sink.finish()
        return .over
    }
}

extension ExportStream: StreamProducer {
    func streamWritable() { inbox.wake() }

    /// Wakes the loop, so that the next step follows at once and finds that the connection is closed.
    func streamClosed() { inbox.wake() }
}
