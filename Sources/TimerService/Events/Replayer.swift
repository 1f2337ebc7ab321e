import Platform
public import TimerCore
public import TimerLog
import Webhooks

/// Reads old rows from the store for streams and repeated requests, on threads and connections of its own, so that
/// neither the I/O loops nor the committer wait for it. A bounded run of rows is read at a time; for more the
/// caller asks again.
public final class Replayer: @unchecked Sendable {  // unchecked: the queues do not say that they may change threads
    typealias Job = @Sendable (ReplayReaders) -> Void

    private struct State {
        var jobs: FIFO<Job> = FIFO()
        /// Slices of histories: every other job is one of them, where there are both.
        var slices: FIFO<Job> = FIFO()
        var isSliceNext = false
        var isStopping = false

        var isEmpty: Bool { jobs.isEmpty && slices.isEmpty }

        mutating func next() -> Job? {
            isSliceNext.toggle()
            return isSliceNext ? slices.popFirst() ?? jobs.popFirst() : jobs.popFirst() ?? slices.popFirst()
        }
    }

    private let state = Guarded(State())
    private let log: Published<ActiveLog?>

    /// The number of replay threads.
    static let threadCount = 2

    /// Reads the rows of the log that `log` publishes.
    init(_ log: Published<ActiveLog?>) { self.log = log }

    /// Runs jobs until `stop`, which drops those that were not begun. The body of the replay threads.
    func run() {
        let readers = ReplayReaders(log)
        while let job = next() { readers.run(job) }
    }

    /// Waits for the next job; nil after `stop`.
    private func next() -> Job? {
        state.wait { state -> Job?? in
            if state.isStopping { return .some(nil) }
            return state.isEmpty ? nil : .some(state.next())
        }
    }

    func enqueue(_ job: @escaping Job) { state.update { $0.jobs.append(job) } }

    /// Enqueues a slice of a history: see `State.slices`.
    func enqueueSlice(_ job: @escaping Job) { state.update { $0.slices.append(job) } }

    func stop() { state.update { $0.isStopping = true } }

    /// The bytes of rows after which a read of several ends, and so the most that one stream holds of the log.
    static let bytesPerRead = 1 << 20

    /// Finds the rows that hold positions after `position`, about a mebibyte of them; `reply` gets none at the
    /// log's end.
    public func rows(
        after position: Int64, reply: @escaping @Sendable (Result<StoredRows, StoreError>) -> Void
    ) {
        enqueue { readers in
            reply(Result { () throws(StoreError) in try Self.rows(after: position, readers) })
        }
    }

    private static func rows(after position: Int64, _ readers: ReplayReaders) throws(StoreError) -> StoredRows {
        // Read before the rows: those that come meanwhile are in memory.
        var found = StoredRows(rows: [], through: try readers.active().hub.floor)
        var bytes = 0
        try readers.reader().read(from: position + 1) { row in
            found.rows.append(row)
            found.through = row.last
            bytes += row.data.count
            return bytes < bytesPerRead
        }
        return found
    }

    /// Finds the rows that hold a timer's events after `position` up to the one at `newest`, following the events'
    /// links back, and returns the oldest, about a mebibyte. `newest` should be at most `History.stride` events after
    /// `position`.
    ///
    /// `reply` gets the rows, oldest first.
    public func rows(
        ofEventsTo newest: Int64, after position: Int64,
        reply: @escaping @Sendable (Result<StoredRows, StoreError>) -> Void
    ) {
        enqueue { readers in
            reply(Result { () throws(StoreError) in try Self.rows(ofEventsTo: newest, after: position, readers) })
        }
    }

    private static func rows(
        ofEventsTo newest: Int64, after position: Int64, _ readers: ReplayReaders
    ) throws(StoreError) -> StoredRows {
        var next = newest
        // The rows, newest first. Beyond what one read may hold, the newest have their data dropped: they are read
        // again when their turn comes.
        var rows: [LogRow] = []
        var dropped = 0
        var bytes = 0
        guard next > position else { return StoredRows(rows: [], through: position) }
        let missing = try readers.reader().follow(from: next) { row throws(StoreError) in
            let links = try EventLinks(row)
            repeat { next = links.previous(of: next) } while next > position && links.holds(next)
            rows.append(row)
            bytes += row.data.count
            while bytes - rows[dropped].data.count >= bytesPerRead {
                bytes -= rows[dropped].data.count
                rows[dropped].data = []
                dropped += 1
            }
            return next > position ? next : nil
        }
        return StoredRows(
            rows: rows[dropped...].reversed(), through: rows.isEmpty ? position : rows[dropped].last,
            isWhole: missing == nil)
    }

    /// Reads the answers, or parts of one, at `positions`; nil where one is gone.
    public func answers(
        at positions: [Int64], reply: @escaping @Sendable (Result<[StoredAnswer?], StoreError>) -> Void
    ) {
        enqueue { readers in
            var row: RowRecords?
            do throws(StoreError) {
                var answers: [StoredAnswer?] = []
                for position in positions {
                    if !(row?.holds(position) ?? false) {
                        row = try readers.row(holding: position).map(RowRecords.init)
                    }
                    answers.append(row?.answer(at: position))
                }
                reply(.success(answers))
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Finds out whether a row holds `position` or begins right after it: see `EventHub.positionState`.
    public func isHeld(_ position: Int64, reply: @escaping @Sendable (Result<Bool, StoreError>) -> Void) {
        enqueue { readers in
            do throws(StoreError) {
                if try readers.reader().row(holding: position) != nil { return reply(.success(true)) }
                reply(.success(try readers.reader().row(holding: position + 1) != nil))
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Reads the events of `deliveries`; nil where one is gone. With `withWebhooks` each says where a deleted timer's
    /// delivery goes. Rows are released as they are read, so only the
    /// time that one thread may be busy bounds how many are asked for at once.
    public func events(
        of deliveries: [DeliveryDetail], withWebhooks: Bool = false,
        reply: @escaping @Sendable (Result<[OwedEvent?], StoreError>) -> Void
    ) {
        enqueue { readers in
            var bodies = EventReader { position throws(StoreError) in try readers.row(holding: position) }
            do throws(StoreError) {
                var events: [OwedEvent?] = []
                for delivery in deliveries {
                    guard let (event, data) = try bodies.event(delivery.id, at: delivery.body),
                        var owed = OwedEvent(event, data)
                    else {
                        events.append(nil)
                        continue
                    }
                    if withWebhooks {
                        let left = try delivery.will.flatMap { will throws(StoreError) in
                            try bodies.will(at: will.position)
                        }
                        owed.noteWebhook(of: left ?? Array(data[event.definition]))
                    }
                    events.append(owed)
                }
                reply(.success(events))
            } catch {
                reply(.failure(error))
            }
        }
    }
}

/// The rows that one read of the store found.
public struct StoredRows: Sendable, Equatable {
    /// The rows, in the order of the log.
    public var rows: [LogRow]
    /// Position up to which `rows` holds every kept event after the position that was asked for.
    public var through: Int64
    /// Whether none of the events in between is gone; for a timer's own events.
    public var isWhole = true
}

/// An event that is to be delivered, without its payload.
public struct OwedEvent: Sendable, Equatable {
    /// The event's type.
    public var type: EventType
    /// The instant at which the event happened, in wall milliseconds.
    public var at: Int64
    /// The prefix of the timer's definition at the event: id and labels.
    public var definition: [UInt8]
    /// The URL of the webhook of a deleted timer, as it was at the deletion, or else at the event; nil unless it was asked
    /// for.
    public private(set) var url: String?

    /// Reads the event that `record` holds; nil when it holds none.
    ///
    /// - Parameter data: the data of the row that holds the record.
    init?(_ record: LogRecord, _ data: [UInt8]) {
        guard case .event(let type, _, _) = record.content else { return nil }
        self.type = type
        at = record.at
        let whole = data.span.extracting(record.definition)
        let count = Definition.prefixCount(whole) ?? 0
        definition = Array(data[record.definition].prefix(count))
    }

    /// Takes the URL of the webhook in `definition`, encoded.
    mutating func noteWebhook(of definition: [UInt8]) {
        url = Definition.layout(definition.span)?.webhook.flatMap {
            WebhookConfiguration.url(encoded: definition.span.extracting($0))
        }
    }
}

/// The reader of the active log with which one replay thread works.
final class ReplayReaders {
    private let log: Published<ActiveLog?>
    /// The log that the job at hand reads; nil between two jobs, so that a log which was dropped leaves memory.
    private var current: ActiveLog?
    /// The log that `opened` reads.
    private weak var read: ActiveLog?
    private var opened: (any LogReader)?

    /// Reads the log that `log` publishes.
    init(_ log: Published<ActiveLog?>) { self.log = log }

    /// Runs `job`, which reads the log that is active now.
    func run(_ job: Replayer.Job) {
        current = log.value
        if current !== read || current == nil { (read, opened) = (current, nil) }
        job(self)
        current = nil
    }

    /// Returns the log that is read. Throws `unavailable` where this process owns none.
    func active() throws(StoreError) -> ActiveLog {
        guard let current else { throw StoreError(.unavailable, "the log is another process's") }
        return current
    }

    /// Returns the reader of the rows on disk.
    func reader() throws(StoreError) -> any LogReader {
        if let opened { return opened }
        let reader = try active().store.makeReader()
        opened = reader
        return reader
    }

    /// Returns the row that holds `position`; nil where it is gone. Rows that may be shown before they are on disk
    /// are in memory.
    func row(holding position: Int64) throws(StoreError) -> LogRow? {
        if let row = try active().hub.row(holding: position) { return row }
        return try reader().row(holding: position)
    }
}

extension Replayer {
    /// A delivery's event, as its record holds it, for an export.
    public struct ExportedEvent {
        /// The delivery.
        public let delivery: DeliveryDetail
        /// The event; its position is its id, wherever its record has moved to.
        public let event: LogRecord
        /// The whole definition of the event's timer at the event.
        public let definition: [UInt8]
        /// The name of the event's actor; empty for none.
        public let actor: [UInt8]
        /// The definition of a deleted timer at its deletion; nil for other timers, or where it is not known.
        public let will: [UInt8]?
    }

    /// The export of some deliveries.
    public struct ExportedDeliveries: Sendable {
        /// The bytes that were written.
        public var bytes: [UInt8] = []
        /// The number of deliveries that were written.
        public var count = 0
        /// The deliveries whose events were not at the positions that were given.
        public var missing: [Int64] = []
    }

    /// Reads the events of `deliveries` and passes each to `write`, which appends the bytes that it makes of the event.
    ///
    /// - Parameters:
    ///   - write: called on a replay thread.
    ///   - reply: gets the bytes that were written.
    public func export(
        _ deliveries: [DeliveryDetail], write: @escaping @Sendable (ExportedEvent, inout [UInt8]) -> Void,
        reply: @escaping @Sendable (Result<ExportedDeliveries, StoreError>) -> Void
    ) {
        enqueue { readers in
            var bodies = EventReader { position throws(StoreError) in try readers.row(holding: position) }
            do throws(StoreError) {
                var departed = ExportedDeliveries()
                for delivery in deliveries {
                    guard let (event, data) = try bodies.event(delivery.id, at: delivery.body) else {
                        departed.missing.append(delivery.id)
                        continue
                    }
                    var will: [UInt8]?
                    if let left = delivery.will { will = try bodies.will(at: left.position) }
                    write(
                        ExportedEvent(
                            delivery: delivery, event: event, definition: Array(data[event.definition]),
                            actor: Array(data[event.actor]), will: will),
                        &departed.bytes)
                    departed.count += 1
                }
                reply(.success(departed))
            } catch {
                reply(.failure(error))
            }
        }
    }
}

extension Replayer: Worker {
    var name: String { "replay" }
    var threadCount: Int { Self.threadCount }
}
