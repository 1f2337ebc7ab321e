import Platform
public import TimerCore
public import TimerLog

/// Reads old rows from the store for streams and repeated requests, on threads and connections of its own, so that
/// neither the I/O loops nor the committer wait for it. A bounded run of rows is read at a time; for more the caller asks
/// again.
public final class Replayer: @unchecked Sendable {  // unchecked: the queues do not say that they may change threads
    typealias Job = @Sendable (any LogReader) -> Void

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

    /// The next job, once there is one; nil after `stop`.
    private func next() -> Job? {
        state.wait { state -> Job?? in
            if state.isStopping { return .some(nil) }
            return state.isEmpty ? nil : .some(state.next())
        }
    }

    private func enqueue(_ job: @escaping Job) { state.update { $0.jobs.append(job) } }

    /// As `enqueue`, for a slice of a history.
    func enqueueSlice(_ job: @escaping Job) { state.update { $0.slices.append(job) } }

    func stop() { state.update { $0.isStopping = true } }

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
            var links = EventLinks()
            var isWhole = true
            do throws(StoreError) {
                while next > position {
                    if !links.holds(next) {
                        guard let row = try reader.row(holding: next) else {
                            isWhole = false
                            break
                        }
                        links = try EventLinks(row)
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
