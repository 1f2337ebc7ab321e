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
    private var stopping = false
    private let store: any LogStore

    /// Threads that replay.
    static let threadCount = 2

    init(_ store: any LogStore) { self.store = store }

    /// Works until `stop`. The body of its threads.
    func run() {
        var reader: (any LogReader)?
        while let job = next() {
            if reader == nil { reader = try? store.makeReader() }
            if let reader { job(reader) } else { job(UnreadableLog()) }
        }
    }

    private func next() -> Job? {
        lock.withLock {
            while jobs.isEmpty && !stopping { lock.wait() }
            return jobs.popFirst()
        }
    }

    private func enqueue(_ job: @escaping Job) {
        lock.withLock {
            jobs.append(job)
            lock.signal()
        }
    }

    func stop() {
        lock.withLock {
            stopping = true
            lock.signal()
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

    /// Finds the rows that hold `positions`, which grow; each row once, about a mebibyte of them. `reply` gets none when
    /// the first is gone.
    public func rows(
        holding positions: [Int64], reply: @escaping @Sendable (Result<[LogRow], StoreError>) -> Void
    ) {
        enqueue { reader in
            var found: [LogRow] = []
            var bytes = 0
            do throws(StoreError) {
                for position in positions where bytes < Self.bytesARead {
                    if let last = found.last?.last, position <= last { continue }
                    guard let row = try reader.row(holding: position) else { break }
                    found.append(row)
                    bytes += row.data.count
                }
                reply(.success(found))
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Finds the row that holds `position`; `reply` gets nil when it is gone.
    public func row(
        holding position: Int64, reply: @escaping @Sendable (Result<LogRow?, StoreError>) -> Void
    ) {
        enqueue { reader in
            do throws(StoreError) { reply(.success(try reader.row(holding: position))) } catch {
                reply(.failure(error))
            }
        }
    }

    /// Reads the events of `deliveries`; nil where one is gone. Rows are let go as they are read: ask for as many at once
    /// as one thread may be busy with.
    public func events(
        of deliveries: [DeliveryStanding], reply: @escaping @Sendable (Result<[OwedEvent?], StoreError>) -> Void
    ) {
        enqueue { reader in
            var bodies = EventBodies { position throws(StoreError) in try reader.row(holding: position) }
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

    /// What a walk along a timer's events came to.
    public enum History: Sendable {
        /// Their positions, oldest first.
        case positions([Int64])
        /// Some of them are gone; the oldest that is kept, if any.
        case expired(oldest: Int64?)
        /// There are more than `historyLimit`: scan the log instead.
        case long
        /// The store could not be read.
        case failed(StoreError)
    }

    /// Most events of one timer a walk collects.
    public static let historyLimit = 100_000

    /// Follows a timer's events back from the one at `newest` to those after `since`.
    ///
    /// - Parameter keepsAll: whether a part that is gone is an error; else the walk ends there.
    public func history(
        newest: Int64, since: Int64, keepsAll: Bool, reply: @escaping @Sendable (History) -> Void
    ) {
        enqueue { reader in
            var positions: [Int64] = []
            var next = newest
            var links = Links()
            do throws(StoreError) {
                while next > since {
                    if positions.count == Self.historyLimit { return reply(.long) }
                    if !links.hold(next) {
                        guard let row = try reader.row(holding: next) else {
                            if keepsAll { return reply(.expired(oldest: positions.last)) }
                            break
                        }
                        links = try Links(row)
                    }
                    positions.append(next)
                    next = links.previous(of: next)
                }
                reply(.positions(positions.reversed()))
            } catch {
                reply(.failed(error))
            }
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
