import Platform
import TimerCore
import TimerLog

/// Keeps the log short: rows beyond the time and the bytes for which events are kept are deleted, once what live
/// timers need of them is written again. Confined to the compactor's thread.
///
/// Work is only done when the rows outside hold twice what is live: a log of sleeping timers is left alone, and the
/// disk holds at most 2.5 times the live data beside the kept events.
final class LogCompaction {
    private let log: ActiveLog
    private let engine: Engine
    private let pacing: CompactionPacing
    private let report: @Sendable (ServiceEvent) -> Void
    /// The reader, kept from round to round: opening the database takes longer than a look at the oldest row.
    private var reader: (any LogReader)?
    /// The place in the log where the kept events begin.
    private let boundary: EventBoundary
    /// Position up to which rows are compacted.
    private var compactedThrough: Int64 = 0
    /// The bytes of deliveries' events that had to be written again in the last pass through the log, and in this one.
    private var carried = CarriedDeliveries()
    /// The pass over rows of kicks: see `condenseKicks`.
    private var pass = KickPass()

    /// Bounds that tests make smaller.
    struct Tuning: Sendable {
        /// The bytes of garbage below which compaction is not worth the work.
        var slackBytes = 4 << 20
        /// The most rows looked at in one round.
        var rowsPerRound = 256
        /// The bytes of rows after which a round takes no further row: what it carries is at most as much, in
        /// memory and in the batch.
        var bytesPerRound = 4 << 20
    }

    private let tuning: Tuning
    /// The function that makes carried records durable where no other thread does, in place of waiting.
    var onWait: (() -> Void)?
    /// The approximate bytes of a record beside the definition or the answer.
    private static let recordOverhead = 48

    init(
        _ log: ActiveLog, _ pacing: CompactionPacing, tuning: Tuning = Tuning(),
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        self.log = log
        self.pacing = pacing
        self.tuning = tuning
        self.report = report
        engine = log.engine
        boundary = EventBoundary(log)
    }

    /// Runs one round, with a reader of its own. Returns whether more is to do at once; false where the log has
    /// ended, or where the round fails, which is reported.
    func round() -> Bool {
        if log.hasEnded { return false }
        let isBusy = log.whileOpen {
            do throws(StoreError) {
                if reader == nil { reader = try log.store.makeReader() }
                return try reader.map { reader throws(StoreError) in try round(reader) } ?? false
            } catch {
                reader = nil
                report(.compactionFailed(error))
                return false
            }
        }
        return isBusy ?? false
    }

    /// Moves the boundary to where events are young enough and few enough, and compacts a bounded number of rows.
    /// Returns whether more is to do at once.
    func round(_ reader: any LogReader) throws(StoreError) -> Bool {
        while engine.forgetKeys(), !pacing.isStopping, !log.hasEnded {}
        engine.recordKeyUses()
        guard try countRows(reader) else { return false }
        try boundary.look(reader, rows: tuning.rowsPerRound)
        let (upkeep, kept) = (engine.upkeep, engine.configuration)
        let moved = boundary.move(to: upkeep.wall - kept.retainMilliseconds, keeping: kept.retainBytes)
        let live =
            upkeep.liveBytes + upkeep.liveRecords * Self.recordOverhead
            + max(upkeep.deliveryBytes, carried.bytes(upkeep.carriedDeliveryBytes))
        var isBusy = try condenseKicks(reader) || moved
        if boundary.outsideBytes > 2 * live + tuning.slackBytes { isBusy = try compact(reader) || isBusy }
        return isBusy
    }

    /// Counts the bytes of the rows that were in the log when it was taken over, unless they are known. Returns false
    /// when the service stops, or the log has ended.
    private func countRows(_ reader: any LogReader) throws(StoreError) -> Bool {
        guard let end = log.trim.uncountedThrough else { return true }
        var bytes = RowBytes()
        try reader.read(from: 0) { row in
            guard row.last <= end, !pacing.isStopping, !log.hasEnded else { return false }
            bytes.add(row)
            return true
        }
        if pacing.isStopping || log.hasEnded { return false }
        log.trim.count(bytes)
        return true
    }

    /// Compacts the oldest rows outside. Returns whether there were any.
    private func compact(_ reader: any LogReader) throws(StoreError) -> Bool {
        let restarts = engine.upkeep.restarts
        var rows: [LogRow] = []
        var bytes = 0
        try reader.read(from: compactedThrough + 1) { row in
            guard row.last <= boundary.through, rows.count < tuning.rowsPerRound, bytes < tuning.bytesPerRound else {
                return false
            }
            rows.append(row)
            bytes += row.data.count
            return true
        }
        guard let last = rows.last?.last else { return false }
        for row in rows {
            guard carry(try needs(of: row)) else { return false }
        }
        guard engine.carryVersionFloor(), waitUntilDurable(restarts) else { return false }
        compactedThrough = last
        carried.note(
            through: last, head: engine.durableHead, engine.upkeep.carriedDeliveryBytes)
        pass.through = max(pass.through, last)
        let going = RowBytes(rows)
        boundary.compacted(bytes: going.events)
        log.delete(through: last, going)
        return true
    }

    /// The bytes of the log that deliveries hold, as passes find them: a few with long payloads may be most of it.
    private struct CarriedDeliveries {
        private var end: Int64 = 0
        private var countAtStart = 0
        private var lastWay = 0

        /// Returns the bytes that deliveries hold, given the bytes of their events that were ever written again.
        func bytes(_ count: Int) -> Int { max(lastWay, count - countAtStart) }

        /// Notes that rows up to `position` are done; a pass ends where the log ended when it began.
        mutating func note(through position: Int64, head: Int64, _ count: Int) {
            guard position >= end else { return }
            lastWay = count - countAtStart
            countAtStart = count
            end = head
        }
    }

    /// Returns the contents of a row that may still be needed.
    func needs(of row: LogRow) throws(StoreError) -> Engine.Carried {
        var carried = Engine.Carried()
        let siphash = engine.siphash
        try BatchRows.read(row) { record in
            if case .kick(let hash, let base) = record.content {
                carried.kicks.append(
                    Engine.CarriedKick(hash: hash, base: base, version: record.progress.version))
            }
            if case .key(_, let key?, _) = record.content { carried.keys.append(key) }
            if case .calendar(let calendar) = record.content { carried.calendars.append(calendar) }
            if case .answer(let answer) = record.content { carried.answers.append((answer, record.position)) }
            if let delivery = Self.delivery(record, row) { carried.deliveries.append(delivery) }
            if case .will = record.content {
                carried.wills.append((Array(row.data[record.definition]), record.position))
            } else if record.isWhole {
                let key = TimerKey(definition: row.data.span.extracting(record.definition), siphash: siphash)
                carried.bases.append((key, record.position))
            }
            return true
        }
        return carried
    }

    /// Returns the delivery whose event a record holds; nil where it holds none.
    private static func delivery(_ record: LogRecord, _ row: LogRow) -> Engine.CarriedDelivery? {
        var event = record
        var id = record.position
        if case .delivery(let detail, let carried) = record.content {
            guard let carried else { return nil }
            event = carried
            id = detail.id
        }
        guard event.owesDelivery else { return nil }
        return Engine.CarriedDelivery(
            id: id, origin: event.position, position: record.position, event: Array(row.data[event.body]))
    }

    /// One pass over the rows of kicks, oldest first.
    private struct KickPass {
        /// Position up to which rows are done: later ones hold what was needed of them. A row that further ones may
        /// join is not done.
        var through: Int64 = 0
        /// Position where the pass ends; nil when none is under way.
        var end: Int64?
        /// The bytes of the rows of kicks at the end of the last pass.
        var bytesLeft = 0
    }

    /// Condenses a bounded number of rows of kicks, once later records replace theirs. A pass begins when the rows
    /// of kicks hold twice what the last one left, so that kicks take a bounded part of the disk, however many
    /// there are. Returns whether more is to do at once.
    private func condenseKicks(_ reader: any LogReader) throws(StoreError) -> Bool {
        if pass.end == nil {
            guard log.trim.bytes.kicks > 2 * pass.bytesLeft + tuning.slackBytes else { return false }
            pass.end = engine.durableHead
        }
        guard let end = pass.end else { return false }
        let restarts = engine.upkeep.restarts
        var runs: [[LogRow]] = []
        var last = pass.through
        var isOver = true
        var runEnd: Int64 = 0
        var rows = 0
        var bytes = 0
        try reader.read(from: pass.through + 1) { row in
            // The row at the end may be the newest, which stays as it is.
            guard row.last < end else { return false }
            isOver = rows < tuning.rowsPerRound && bytes < tuning.bytesPerRound
            guard isOver else { return false }
            last = row.last
            rows += 1
            bytes += row.data.count
            let kind = BatchHeader.kind(of: row)
            // The first row may be the rest of one that begins further back.
            guard kind == .kicks || kind == .condensed, row.first > pass.through else { return true }
            if row.previous != 0, row.previous == runEnd {
                runs[runs.count - 1].append(row)
            } else {
                runs.append([row])
            }
            runEnd = row.last
            return true
        }
        for row in runs.joined() {
            guard carry(try needs(of: row)) else { return false }
        }
        guard waitUntilDurable(restarts) else { return false }
        replace(runs, restingOn: engine.durableHead)
        // The next read must find the rows replaced.
        guard wait(restarts, until: { !log.trim.isReplacing }) else { return false }
        pass.through = last
        // The row that takes the place of the last run is read once more, so that rows of kicks which follow it can
        // join it.
        if let run = runs.last, runEnd == last, run.count > 1 || isOver { pass.through = run[0].previous }
        if isOver {
            pass.end = nil
            pass.bytesLeft = log.trim.bytes.kicks
        }
        return !isOver
    }

    private func replace(_ runs: [[LogRow]], restingOn position: Int64) {
        let changed = runs.filter { $0.contains { BatchHeader.kind(of: $0) == .kicks } }
        log.replace(
            changed.compactMap { run in
                BatchRows.condense(run, restingOn: position).map { RowReplacement(row: $0, replaced: RowBytes(run)) }
            })
    }

    /// Writes again what is still needed, in steps. Returns false when storage takes no writes now.
    private func carry(_ carried: Engine.Carried) -> Bool {
        var next = 0
        while next < carried.count {
            guard let done = engine.carry(carried, from: next) else { return false }
            next = done
        }
        return true
    }

    /// Waits until what was carried, and what it rests on, is durable. Returns false as `wait` does.
    private func waitUntilDurable(_ restarts: Int) -> Bool {
        let head = engine.upkeep.head
        return wait(restarts) { engine.durableHead >= head }
    }

    /// Waits until `isSo`. Returns false when the service stops or the log has ended, or when the log was folded
    /// again since it counted `restarts`: what was carried before may be lost, whatever is durable now.
    private func wait(_ restarts: Int, until isSo: () -> Bool) -> Bool {
        while !pacing.isStopping && !log.hasEnded {
            let isDone = isSo()
            if engine.upkeep.restarts != restarts { return false }
            if isDone { return true }
            log.hurry()
            if let onWait { onWait() } else { pacing.waitForDurability() }
        }
        return false
    }
}
