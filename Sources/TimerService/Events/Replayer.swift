import Platform
public import TimerCore
public import TimerLog

/// Reads old rows from the store for streams and repeated requests, on threads and connections of its own, so that
/// neither the I/O loops nor the committer wait for it. A bounded run of rows is read at a time; whoever wants more asks
/// again.
public final class Replayer: @unchecked Sendable {  // unchecked: every `var` is guarded by `lock`
    typealias Job = @Sendable (any LogReader) -> Void

    private let lock = Lock()
    private var jobs: FIFO<Job> = FIFO()
    /// Walks along timers' events, a slice each: every other job is one of them, where there are both.
    private var walks: FIFO<Job> = FIFO()
    private var isWalksTurn = false
    private var stopping = false
    private let store: any LogStore
    private let hub: EventHub

    /// Threads that replay.
    static let threadCount = 2

    init(_ store: any LogStore, _ hub: EventHub) {
        self.store = store
        self.hub = hub
    }

    /// Works until `stop`, which leaves undone what was not begun. The body of its threads.
    func run() {
        var reader: (any LogReader)?
        while let job = next() {
            if reader == nil { reader = try? store.makeReader() }
            if let reader { job(reader) } else { job(UnreadableLog()) }
        }
    }

    private func next() -> Job? {
        lock.withLock {
            while jobs.isEmpty && walks.isEmpty && !stopping { lock.wait() }
            if stopping { return nil }
            isWalksTurn.toggle()
            return isWalksTurn ? walks.popFirst() ?? jobs.popFirst() : jobs.popFirst() ?? walks.popFirst()
        }
    }

    private func enqueue(_ job: @escaping Job) {
        lock.withLock {
            jobs.append(job)
            lock.broadcast()
        }
    }

    private func enqueueWalk(_ job: @escaping Job) {
        lock.withLock {
            walks.append(job)
            lock.broadcast()
        }
    }

    func stop() {
        lock.withLock {
            stopping = true
            lock.broadcast()
        }
    }

    /// Bytes of rows after which a read of several ends: what one stream may hold of the log.
    static let bytesARead = 1 << 20

    /// Finds the rows that hold positions after `position`, about a mebibyte of them; `reply` gets none at the log's end.
    public func rows(
        after position: Int64, reply: @escaping @Sendable (Result<[LogRow], StoreError>) -> Void
    ) {
        enqueue { reader in
            var found: [LogRow] = []
            var bytes = 0
            do throws(StoreError) {
                try reader.read(from: position + 1) { row in
                    found.append(row)
                    bytes += row.data.count
                    return bytes < Self.bytesARead
                }
                reply(.success(found))
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Finds the rows that hold a timer's events behind `position` up to the one at `newest`, about a mebibyte of them,
    /// following the events' links back: no more than `History.stride` of them should lie between.
    ///
    /// `reply` gets the rows, oldest first, and whether some are gone.
    public func rows(
        ofEventsTo newest: Int64, after position: Int64,
        reply: @escaping @Sendable (Result<(rows: [LogRow], isWhole: Bool), StoreError>) -> Void
    ) {
        enqueue { reader in
            var positions: [Int64] = []
            var next = newest
            var links = Links()
            var isWhole = true
            do throws(StoreError) {
                while next > position {
                    if !links.hold(next) {
                        guard let row = try reader.row(holding: next) else {
                            isWhole = false
                            break
                        }
                        links = try Links(row)
                        positions.append(next)
                    }
                    next = links.previous(of: next)
                }
                var found: [LogRow] = []
                var bytes = 0
                for position in positions.reversed() where bytes < Self.bytesARead {
                    guard let row = try reader.row(holding: position) else {
                        isWhole = false
                        continue
                    }
                    found.append(row)
                    bytes += row.data.count
                }
                reply(.success((found, isWhole)))
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Reads the answers, or parts of one, at `positions`; nil where one is gone.
    public func answers(
        at positions: [Int64], reply: @escaping @Sendable (Result<[StoredAnswer?], StoreError>) -> Void
    ) {
        enqueue { [hub] reader in
            var row: RowRecords?
            do throws(StoreError) {
                var answers: [StoredAnswer?] = []
                for position in positions {
                    if !(row?.holds(position) ?? false) {
                        row = try Self.row(position, hub, reader).map(RowRecords.init)
                    }
                    answers.append(row?.answer(at: position))
                }
                reply(.success(answers))
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Finds out whether a row holds `position` or begins right behind it: see `EventHub.standing`.
    public func isHeld(_ position: Int64, reply: @escaping @Sendable (Result<Bool, StoreError>) -> Void) {
        enqueue { reader in
            do throws(StoreError) {
                if try reader.row(holding: position) != nil { return reply(.success(true)) }
                reply(.success(try reader.row(holding: position + 1) != nil))
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Reads the events of `deliveries`; nil where one is gone. Rows are let go as they are read: ask for as many at once
    /// as one thread may be busy with.
    public func events(
        of deliveries: [DeliveryStanding], reply: @escaping @Sendable (Result<[OwedEvent?], StoreError>) -> Void
    ) {
        enqueue { [hub] reader in
            var bodies = EventBodies { position throws(StoreError) in try Self.row(position, hub, reader) }
            do throws(StoreError) {
                var events: [OwedEvent?] = []
                for delivery in deliveries {
                    let found = try bodies.event(delivery.id, at: delivery.body)
                    events.append(found.flatMap { OwedEvent($0.event, $0.data) })
                }
                reply(.success(events))
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// The row that holds `position`: what may be shown and is not on disk yet is in memory.
    private static func row(
        _ position: Int64, _ hub: EventHub, _ reader: any LogReader
    ) throws(StoreError) -> LogRow? {
        if let row = hub.row(holding: position) { return row }
        return try reader.row(holding: position)
    }

    /// A walk along a timer's events, from the newest back.
    public struct History: Sendable {
        /// Events from one mark to the next.
        public static let stride = 256
        /// Positions of the newest event, the 256th before it, and so on, oldest first: a mark every `stride` events, so
        /// that a history costs little however long it is.
        public var marks: [Int64] = []
        /// The oldest event that was found; 0 for none.
        public var oldest: Int64 = 0
        /// Whether it goes back to the timer's creation.
        public var isWhole = false
        /// Whether events behind the asker's position are gone.
        public var isExpired = false
    }

    /// Events that one slice of a walk passes: other jobs come in between.
    private static let sliceEvents = 4 * History.stride

    /// Follows a timer's events back from the one at `newest` to those after `since`.
    public func history(
        newest: Int64, since: Int64, reply: @escaping @Sendable (Result<History, StoreError>) -> Void
    ) {
        walk(Walk(next: newest, since: since), reply)
    }

    /// Where a walk stands.
    private struct Walk: Sendable {
        var next: Int64
        let since: Int64
        var history = History()
        /// Events since the last mark.
        var passed = 0
    }

    private func walk(_ begun: Walk, _ reply: @escaping @Sendable (Result<History, StoreError>) -> Void) {
        enqueueWalk { [self] reader in
            var walk = begun
            var links = Links()
            do throws(StoreError) {
                for _ in 0..<Self.sliceEvents where walk.next > walk.since {
                    if !links.hold(walk.next) {
                        guard let row = try reader.row(holding: walk.next) else {
                            walk.history.isExpired = true
                            walk.next = 0
                            break
                        }
                        links = try Links(row)
                    }
                    if walk.passed % History.stride == 0 { walk.history.marks.append(walk.next) }
                    walk.passed += 1
                    walk.history.oldest = walk.next
                    walk.next = links.previous(of: walk.next)
                    walk.history.isWhole = walk.next == 0
                }
            } catch {
                return reply(.failure(error))
            }
            if walk.next > walk.since { return self.walk(walk, reply) }
            walk.history.marks.reverse()
            reply(.success(walk.history))
        }
    }

    /// Which position each record of a row names as its timer's event before: read once, however many are asked for.
    private struct Links {
        private var first: Int64 = 0
        private var previous: [Int64] = []

        init() {}

        init(_ row: LogRow) throws(StoreError) {
            var previous: [Int64] = []
            try BatchRows.read(row) { record in
                previous.append(record.previous)
                return true
            }
            first = row.first
            self.previous = previous
        }

        func hold(_ position: Int64) -> Bool { position >= first && position - first < Int64(previous.count) }

        func previous(of position: Int64) -> Int64 { previous[Int(position - first)] }
    }
}

/// Stands in where no reader could be made: every read fails.
private final class UnreadableLog: LogReader {
    private static let error = StoreError(.io, "the log can't be opened for reading")

    func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) { throw Self.error }

    func row(holding position: Int64) throws(StoreError) -> LogRow? { throw Self.error }
}

extension Replayer: Worker {
    var name: String { "replay" }
    var threadCount: Int { Self.threadCount }
}
