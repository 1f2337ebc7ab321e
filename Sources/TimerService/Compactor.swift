import Platform
import TimerCore
import TimerLog

/// Keeps the log short: rows outside of the time and the bytes that events are kept for go, once what live timers
/// need of them is written anew.
///
/// Work is only done when the rows outside hold twice what is live: a log of sleeping timers is left alone, and the
/// disk holds at most 2.5 times the live data beside the kept events.
final class Compactor: @unchecked Sendable {  // unchecked: `stopping` is guarded by `lock`, the rest by its one thread
    private let engine: Engine
    private let store: any LogStore
    private let committer: Committer
    private let report: @Sendable (ServiceEvent) -> Void
    private let lock = Lock()
    private var stopping = false
    /// Rows up to here are outside of what is kept for events.
    private var outsideThrough: Int64 = 0
    /// Bytes of the rows that are outside and not yet compacted.
    private var outsideBytes = 0
    /// Rows up to here are compacted.
    private var compactedThrough: Int64 = 0

    private static let pause: Int64 = 1_000_000_000
    /// Garbage below this is not worth the work.
    private static let slack = 4 << 20
    /// Bytes of a record beside the definition, about.
    private static let recordOverhead = 40
    /// Most rows looked at in one round.
    private static let rowsPerRound = 256

    init(
        _ engine: Engine, _ store: any LogStore, _ committer: Committer,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        self.engine = engine
        self.store = store
        self.committer = committer
        self.report = report
    }

    /// Works until `stop`. The body of its thread.
    func run() {
        while !isStopping() {
            var isBusy = false
            do throws(StoreError) {
                let reader = try store.makeReader()
                isBusy = try round(reader)
            } catch {
                report(.compactionFailed(error))
            }
            if !isBusy { pause() }
        }
    }

    /// Begins a round now: the log has grown. Any thread.
    func nudge() { lock.withLock { lock.signal() } }

    func stop() {
        lock.withLock {
            stopping = true
            lock.signal()
        }
    }

    private func isStopping() -> Bool { lock.withLock { stopping } }

    private func pause() {
        lock.withLock { if !stopping { _ = lock.wait(nanoseconds: Self.pause) } }
    }

    /// One round: moves the boundary, compacts a bounded number of rows. Returns whether more is to do at once.
    func round(_ reader: any LogReader) throws(StoreError) -> Bool {
        let moved = try moveBoundary(reader)
        let live = engine.lock.withLock {
            engine.scheduler.definitionBytes + engine.scheduler.count * Self.recordOverhead
        }
        guard outsideBytes > 2 * live + Self.slack else { return moved }
        return try compact(reader) || moved
    }

    private func moveBoundary(_ reader: any LogReader) throws(StoreError) -> Bool {
        let kept = engine.configuration
        let oldestKept = engine.lock.withLock { engine.instant().wall } - kept.retainMilliseconds
        var inside = committer.logDataBytes - outsideBytes
        var rows = 0
        let head = engine.durableHead
        try reader.read(from: outsideThrough + 1) { row in
            guard rows < Self.rowsPerRound, row.last < head, let header = BatchHeader(row.data.span),
                header.base.now.wall < oldestKept || inside > kept.retainBytes
            else { return false }
            rows += 1
            outsideThrough = row.last
            outsideBytes += row.data.count
            inside -= row.data.count
            return true
        }
        committer.expire(through: outsideThrough)
        return rows == Self.rowsPerRound
    }

    /// Compacts the oldest rows outside. Returns whether it did any.
    private func compact(_ reader: any LogReader) throws(StoreError) -> Bool {
        var rows: [LogRow] = []
        try reader.read(from: compactedThrough + 1) { row in
            guard row.last <= outsideThrough, rows.count < Self.rowsPerRound else { return false }
            rows.append(row)
            return true
        }
        guard let last = rows.last?.last else { return false }
        for row in rows {
            var carried = Engine.Carried()
            let siphash = engine.siphash
            try BatchRows.read(row) { record in
                if case .answer(let answer) = record.content { carried.answers.append((answer, record.position)) }
                if record.isWhole {
                    let key = TimerKey(definition: row.data.span.extracting(record.definition), siphash: siphash)
                    carried.bases.append((key, record.position))
                }
                return true
            }
            var done: Int? = 0
            while let start = done, start < max(1, carried.bases.count + carried.answers.count) {
                done = engine.carry(carried, from: start)
                if done == 0 { break }
            }
            guard done != nil else { return false }
        }
        guard waitUntilDurable() else { return false }
        compactedThrough = last
        outsideBytes -= rows.reduce(0) { $0 + $1.data.count }
        committer.delete(through: last)
        return true
    }

    /// Waits for what was carried; false when storage fails or the service stops meanwhile.
    private func waitUntilDurable() -> Bool {
        let head = engine.lock.withLock { engine.head }
        while !isStopping() {
            switch engine.fate(of: head) {
            case .durable where engine.durableHead >= head: return true
            case .lost: return false
            default: lock.withLock { _ = lock.wait(nanoseconds: 1_000_000) }
            }
        }
        return false
    }
}
