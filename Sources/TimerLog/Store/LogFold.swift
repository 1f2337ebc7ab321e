public import TimerCore

/// Rebuilds the timers and deliveries that were live from the rows of a log, in order.
public struct LogFold: ~Copyable {
    /// The request and the position of an answer to a request with an idempotency key, or of a part of one.
    public struct AnswerPlace: Sendable, Equatable {
        /// The request that was answered.
        public var request: IdempotentRequest
        /// Wall milliseconds of the first answer or, for a part, of the beginning of its run.
        public var answeredAt: Int64
        /// Position of the answer's record.
        public var position: Int64
        /// Bytes of the answer.
        public var byteCount: Int
        /// The part that the record holds; nil for a whole answer.
        public var part: AnswerPart?

        /// Describes `answer`, whose record is at `position`.
        public init(_ answer: StoredAnswer, position: Int64) {
            request = answer.request
            answeredAt = answer.answeredAt
            self.position = position
            byteCount = answer.answer.count
            guard case .part(var part) = answer.form else { return }
            if part.origin == 0 { part.origin = position }
            self.part = part
        }

        /// Orders answers by age, and copies of one answer by position.
        public static func isOlder(_ left: AnswerPlace, than right: AnswerPlace) -> Bool {
            (left.answeredAt, left.position) < (right.answeredAt, right.position)
        }
    }

    /// The timers and deliveries so far; none is armed.
    private(set) var scheduler: Scheduler
    private var chain = ChainVerifier()
    /// Answers found so far that were not taken, in log order; a later one of the same key replaces an earlier.
    public private(set) var answers: [AnswerPlace] = []
    /// The time base of the newest row.
    public private(set) var lastBase: TimeBase?
    /// Position of the newest record.
    public private(set) var head: Int64 = 0
    /// Position of the newest record that does not begin an epoch.
    public private(set) var lastWritten: Int64 = 0
    /// The newest high-water mark.
    public private(set) var mark = HighWaterMark()
    /// Whether fires, webhooks and changes are stopped.
    public private(set) var isDrained = false
    /// The client that drained the server last, or ended the drain; nil where it is not known.
    public private(set) var drainedBy: Actor?
    /// The progress of imports: the newest record of each.
    public private(set) var imports = ImportTable()
    /// All access keys.
    public private(set) var keys = KeyRing()
    /// All calendars.
    public var calendars: CalendarTable { scheduler.calendars }
    /// Position up to which rows were deleted: `previous` of the first row. Nil before the first row.
    public private(set) var deletedThrough: Int64?
    /// Position of the oldest record; nil for an empty log.
    public private(set) var oldest: Int64?
    /// Bytes of the rows' data, without those up to `goingThrough`.
    public private(set) var bytes = RowBytes()
    private let goingThrough: Int64
    /// The number of records folded.
    public private(set) var records = 0

    /// Makes an empty fold.
    ///
    /// - Parameters:
    ///   - secret, maximumTimers, zones: see `Scheduler.init`.
    ///   - goingThrough: rows up to this position are about to be deleted, and are not counted in `bytes`.
    public init(
        secret: [UInt8], maximumTimers: Int = .max, zones: any ZoneSource = UTCOnly(), goingThrough: Int64 = 0
    ) {
        self.goingThrough = goingThrough
        scheduler = Scheduler(secret: secret, maximumTimers: maximumTimers, zones: zones)
    }

    /// Folds the next row.
    ///
    /// - Throws: `damaged` when the row, a record or the chain is damaged, `unusable` when the row has a newer
    ///   format; the rows before stay folded.
    public mutating func fold(_ row: LogRow) throws(StoreError) { try fold(DecodedRow(row)) }

    /// Folds the next row, which is decoded already. Throws like the method above.
    public mutating func fold(_ decoded: DecodedRow) throws(StoreError) {
        let row = decoded.row
        try chain.check(row)
        if deletedThrough == nil { deletedThrough = row.previous }
        if oldest == nil { oldest = row.first }
        let records = decoded.records
        for index in records.indices where !apply(index, of: records, row) {
            let orphan = records[index].position
            throw StoreError(.damaged, "the record at position \(orphan) is about a timer that no record defines")
        }
        let header = try decoded.header.get()
        if header.kind != .barrier { (lastBase, lastWritten) = (header.base, row.last) }
        head = row.last
        if row.last > goingThrough { bytes.add(row) }
        self.records += header.records
    }

    /// Applies the record at `index`, whose members are read where they are: a copy of a record is large.
    private mutating func apply(_ index: Int, of records: [LogRecord], _ row: LogRow) -> Bool {
        let definition = row.data.span.extracting(records[index].definition)
        switch records[index].content {
        case .event(let type, _, _):
            return apply(type, index, of: records, definition)
        case .snapshot(let lastEvent):
            return scheduler.fold(
                definition: definition, isWhole: true, progress: records[index].progress, kicks: records[index].kicks,
                position: records[index].position, lastEvent: lastEvent)
        case .kick(let hash, let base):
            guard let kicks = records[index].kicks else { return false }
            scheduler.foldKick(
                hash: hash, base: base, progress: records[index].progress, kicks: kicks,
                position: records[index].position)
            return true
        case .answer(let answer):
            answers.append(AnswerPlace(answer, position: records[index].position))
            return true
        case .delivery(let delivery, let event):
            scheduler.foldDelivery(
                delivery, definition: definition, progress: event.map { ($0.progress, $0.kicks) },
                position: records[index].position)
            return true
        case .will(let takesDeliveries):
            let will = DeliveryWill(position: records[index].position, takesDeliveries: takesDeliveries)
            scheduler.foldWill(will, definition: definition)
            return true
        case .condensed:
            return true
        case .versionFloor(let floor):
            scheduler.foldVersionFloor(floor)
            return true
        case .mark(let mark):
            self.mark = mark
            scheduler.foldLostVersions(mark.version)
            return true
        case .drain(let isDrained, let actor):
            self.isDrained = isDrained
            drainedBy = actor
            return true
        case .importProgress(let progress):
            imports.note(progress)
            return true
        case .key(let id, let key, _):
            keys.set(key, for: id)
            return true
        case .calendar(let calendar):
            scheduler.set(calendar)
            return true
        case .deletedCalendar(let name, let version, _):
            scheduler.removeCalendar(name)
            scheduler.foldVersionFloor(version)
            return true
        }
    }

    /// Applies the event at `index`, whose timer has `definition`.
    private mutating func apply(
        _ type: EventType, _ index: Int, of records: [LogRecord], _ definition: Span<UInt8>
    ) -> Bool {
        let position = records[index].position
        if type == .deleted {
            scheduler.foldDeletion(prefix: definition, version: records[index].progress.version, position: position)
            if records[index].owesDelivery { scheduler.foldOwed(position, definition: definition) }
            return true
        }
        if let outcome = records[index].outcome {
            scheduler.fold(outcome, definition: definition, at: records[index].at, position: position)
            return true
        }
        // A timer whose definition is not stored was deleted later on: rows are deleted only when nothing live
        // needs them.
        let isKnown = scheduler.fold(
            definition: definition, isWhole: records[index].isWhole, isCreation: type == .created,
            progress: records[index].progress, kicks: records[index].kicks, position: position, lastEvent: position)
        if isKnown, records[index].owesDelivery { scheduler.foldOwed(position, definition: definition) }
        return isKnown || records[index].previous != 0
    }

    /// Returns the answers found since the last call, in log order, and drops them.
    public mutating func takeAnswers() -> [AnswerPlace] {
        defer { answers = [] }
        return answers
    }

    /// Puts the timers that were folded since the last call into the index.
    public mutating func indexFolded() { scheduler.indexFolded() }

    /// Notes that the end of the log was reached, and that further rows are folded as the log grows: see
    /// `Scheduler.foldOn`.
    public mutating func foldOn(deadLetters: Int) { scheduler.foldOn(deadLetters: deadLetters) }

    /// Drops the dead letters that were to be forgotten by `wall`, in wall milliseconds, while the log is folded on.
    public mutating func forgetDeadLetters(dueBy wall: Int64) { scheduler.forgetDeadLetters(dueBy: wall) }

    /// The highest version of any timer: see `Scheduler.highestVersion`.
    public var highestVersion: Int64 { scheduler.highestVersion }

    /// Returns the scheduler with all that was live at the newest row; nothing is armed yet.
    public consuming func finish() -> Scheduler {
        scheduler.indexFolded()
        return scheduler
    }
}
