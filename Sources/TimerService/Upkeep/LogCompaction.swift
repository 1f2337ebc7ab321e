import Platform
import TimerCore
import TimerLog

/// Keeps the log short: rows outside of the time and the bytes that events are kept for go, once what live
/// timers need of them is written anew. Confined to the compactor's thread.
///
/// Work is only done when the rows outside hold twice what is live: a log of sleeping timers is left alone, and the
/// disk holds at most 2.5 times the live data beside the kept events.
final class LogCompaction {
    private let log: ActiveLog
    private let engine: Engine
    private let pacing: CompactionPacing
    private let report: @Sendable (ServiceEvent) -> Void
    /// Kept from round to round: opening the database takes longer than a look at the oldest row.
    private var reader: (any LogReader)?
    /// Where the events that are kept begin.
    private let boundary: EventBoundary
    /// Rows up to here are compacted.
    private var compactedThrough: Int64 = 0
    /// What deliveries' events held that had to be written anew in the last way through the log, and in this one.
    private var carried = CarriedDeliveries()
    /// The pass over rows of kicks: see `condenseKicks`.
    private var pass = KickPass()

    /// Bounds that tests make smaller.
    struct Tuning: Sendable {
        /// Garbage below this is not worth the work.
        var slackBytes = 4 << 20
        /// Most rows looked at in one round.
        var rowsPerRound = 256
        /// Bytes of rows after which a round takes no further one: what it carries is at most as much, in memory and
        /// in the batch.
        var bytesPerRound = 4 << 20
    }

    private let tuning: Tuning
    /// Makes what was carried durable where no other thread does, in place of waiting.
    var onWait: (() -> Void)?
    /// Bytes of a record beside the definition or the answer, about.
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

    /// One round, with a reader of its own. Returns whether more is to do at once; false where the log has ended, or where the
    /// round fails, which is reported.
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

    /// Moves the boundary to where events are young enough and few enough, and compacts a bounded number of rows. Returns
    /// whether more is to do at once.
    func round(_ reader: any LogReader) throws(StoreError) -> Bool {
        while engine.forgetKeys(), !pacing.isStopping, !log.hasEnded {}
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

    /// Compacts the oldest rows outside. Returns whether it did any.
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

    /// How much of the log deliveries hold, as it shows: a few with long payloads may be most of it.
    private struct CarriedDeliveries {
        private var end: Int64 = 0
        private var countAtStart = 0
        private var lastWay = 0

        /// Bytes that deliveries hold, given the count of all that were ever written anew.
        func bytes(_ count: Int) -> Int { max(lastWay, count - countAtStart) }

        /// Notes that rows up to `position` are done; a way ends where the log ended at its start.
        mutating func note(through position: Int64, head: Int64, _ count: Int) {
            guard position >= end else { return }
            lastWay = count - countAtStart
            countAtStart = count
            end = head
        }
    }

    /// What a row holds that may still be needed.
    func needs(of row: LogRow) throws(StoreError) -> Engine.Carried {
        var carried = Engine.Carried()
        let siphash = engine.siphash
        try BatchRows.read(row) { record in
            if case .kick(let hash, let base) = record.content {
                carried.kicks.append(
                    Engine.CarriedKick(hash: hash, base: base, version: record.progress.version))
            }
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

    /// The delivery whose event a record holds.
    private static func delivery(_ record: LogRecord, _ row: LogRow) -> Engine.CarriedDelivery? {
        var event = record
        var id = record.position
        if case .delivery(let standing, let carried) = record.content {
            guard let carried else { return nil }
            event = carried
            id = standing.id
        }
        guard event.owesDelivery else { return nil }
        return Engine.CarriedDelivery(
            id: id, origin: event.position, position: record.position, event: Array(row.data[event.body]))
    }

    /// One way through the rows of kicks, oldest first.
    private struct KickPass {
        /// Rows up to here are done: what was needed of them stands in later ones. But for one that further rows may join.
        var through: Int64 = 0
        /// Where it ends; nil when none is under way.
        var end: Int64?
        /// What the rows of kicks held after the last one.
        var bytesLeft = 0
    }

    /// Condenses a bounded number of rows of kicks, each of which later records stand for. A pass begins when the rows
    /// of kicks hold twice what the last one left: so kicks take a bounded part of the disk, however many there are.
    /// Returns whether more is to do at once.
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
        // Who reads rows next finds them replaced.
        guard wait(restarts, until: { !log.trim.isReplacing }) else { return false }
        pass.through = last
        // The row that takes the place of the last run is read once more, so that rows of kicks which follow it join it.
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

    /// Writes anew what is still needed, by pieces. Returns false when storage takes no writes now.
    private func carry(_ carried: Engine.Carried) -> Bool {
        var next = 0
        while next < carried.count {
            guard let done = engine.carry(carried, from: next) else { return false }
            next = done
        }
        return true
    }

    /// Waits for what was carried and what it rests on.
    private func waitUntilDurable(_ restarts: Int) -> Bool {
        let head = engine.upkeep.head
        return wait(restarts) { engine.durableHead >= head }
    }

    /// Waits until `isSo`. False when the service stops or the log has ended, or when the log was folded anew since it
    /// counted `restarts`: what was carried before may be gone, whatever is durable now.
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
