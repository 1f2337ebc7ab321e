import TimerCore
import TimerLog
import TimerService
import WireJSON

/// A part of an import under way. The progress of the import is looked up, every line is checked, and then the lines
/// are applied. The progress is kept in the log with the changes, so that a part that a crash cut goes on after them
/// when it is sent again.
final class ImportRun {
    private enum Phase {
        /// The progress of the import is looked up.
        case look
        /// Lines are read and checked. Nothing is changed.
        case check
        /// Lines are read again and applied.
        case apply
    }

    private let request: ImportRequest
    private let siphash: SipHash
    private let zones: any ZoneSource
    private let ranges: [Range<Int>]
    private var document = JSONDocument()
    private var phase = Phase.look
    /// The progress of the import, as the log has it; nil before its first part.
    private var known: ImportProgress?
    private var linesBefore = 0
    /// The floor of versions that the export's head names.
    private var versionFloor: Int64 = 0
    /// Lines that were read and not checked or applied yet, and the next line to be read.
    private var items: [(line: Int, content: ImportLine)] = []
    private var next = 0
    /// The number of lines that are applied.
    private var done = 0
    private var newTimers = 0
    private var newKeys = 0
    private var newCalendars = 0
    /// The calendars of the part.
    private var calendarNames: Set<CalendarName> = []
    private var isLast = false
    private var isCopy: Bool
    private var counts = (timers: 0, deliveries: 0, skipped: 0)
    /// The problem for which the part is refused.
    private(set) var problem: Problem?
    /// Whether anything was changed.
    private(set) var hasChanged = false

    init(_ request: ImportRequest, siphash: SipHash, zones: any ZoneSource) throws(Problem) {
        self.request = request
        self.siphash = siphash
        self.zones = zones
        isCopy = request.isCopy
        ranges = try request.lines()
    }

    // MARK: Outside of the lock

    /// Reads the lines of the next step.
    func prepare() {
        guard problem == nil, items.isEmpty, phase != .look else { return }
        var bytes = 0
        while next < ranges.count, items.count < APILimits.appliedPerStep, bytes < APILimits.bytesPerStep {
            let line = next
            next += 1
            do throws(Problem) {
                try document.parse(line: request.body, ranges[line])
                let content = try ImportLine(
                    document, export: request.exportText, dropsSecrets: request.dropsSecrets, zones: zones)
                if phase == .check { try check(content, line) }
                items.append((line, content))
            } catch {
                problem = request.problem(error, line: line)
                return
            }
            bytes += ranges[line].count
        }
    }

    /// Checks a line, as far as that needs no lock.
    private func check(_ content: ImportLine, _ line: Int) throws(Problem) {
        let isFirst = request.part == 0 && line == 0
        switch content {
        case .head(let isDrained, _):
            guard isFirst else {
                throw Problem(.invalidRequest, "the export's first line is only at its beginning", pointer: "")
            }
            guard isDrained || request.isCopy else {
                throw Problem(.stillRunning, "the server was not drained when it made the export")
            }
            isCopy = !isDrained
        case .end(let lines):
            guard line + 1 == ranges.count else {
                throw Problem(.invalidRequest, "lines follow the last one", pointer: "")
            }
            guard lines == linesBefore + line else {
                throw Problem(
                    .invalidRequest, "the export has \(lines) lines before this one, and \(linesBefore + line) came",
                    pointer: "/lines")
            }
            isLast = true
        case .timer, .delivery, .key, .calendar:
            guard !isFirst else {
                throw Problem(.invalidRequest, "an export begins with the line `export`", pointer: "")
            }
        }
    }

    private func key(_ id: [UInt8]) -> TimerKey { TimerKey(id: id.span, siphash: siphash) }

    // MARK: Under the lock

    /// Takes a bounded step. Returns whether the run is done, or refused.
    func step(_ turn: borrowing Turn) throws(ServiceError) -> Bool {
        if problem != nil { return true }
        switch phase {
        case .look: return look(turn)
        case .check:
            checkConflicts(turn)
            return problem != nil
        case .apply: return try apply(turn)
        }
    }

    private func look(_ turn: borrowing Turn) -> Bool {
        known = turn.importProgress(of: request.export)
        if known.nextPart > request.part { return true }
        guard known.nextPart == request.part else {
            problem = Problem(
                .invalidRequest, "parts come in their order: the next one is \(known.nextPart)", parameter: "part")
            return true
        }
        if let known {
            if known.isComplete {
                problem = Problem(.invalidRequest, "the export is imported: it has no further parts", parameter: "part")
                return true
            }
            if known.part == request.part, known.fingerprint != request.fingerprint {
                problem = Problem(.idempotencyMismatch, "this part was begun with another body")
                return true
            }
            isCopy = known.isCopy
            versionFloor = known.versionFloor
            linesBefore = known.linesBefore + (known.part == request.part ? 0 : known.lines)
        }
        phase = .check
        return false
    }

    /// Checks whether ids are taken. Once all lines are checked, the run goes on to apply them.
    private func checkConflicts(_ turn: borrowing Turn) {
        // Timers that another sending of the part has made meanwhile are no conflict.
        guard isAlone(turn) else { return }
        let begin = known?.begin ?? .max
        for item in items {
            if case .key(let key?) = item.content {
                guard check(key, turn, item.line) else { return }
                continue
            }
            if case .calendar(let calendar) = item.content {
                guard check(calendar, turn, item.line) else { return }
                continue
            }
            guard case .timer(let timer) = item.content else { continue }
            guard checkCalendar(of: timer, turn, item.line) else { return }
            let key = key(timer.id)
            if !timer.isAgain && !turn.exists(key) { newTimers += 1 }
            guard request.policy == .fail,
                turn.isTaken(key, createdAt: timer.arrival.createdAt, since: begin)
            else { continue }
            var taken = Problem(.timerExists, "a timer with this id exists")
            taken.timer = timer.id
            problem = request.problem(taken, line: item.line)
            return
        }
        items.removeAll()
        guard next == ranges.count else { return }
        let detail = turn.count
        let most = turn.read { (scheduler: borrowing Scheduler) in scheduler.maximumTimers }
        guard detail + newTimers <= most else {
            problem = Problem(
                .timerLimit, "the server holds \(detail) timers and may hold \(most): the part has \(newTimers) more")
            return
        }
        guard turn.accessKeys.count + newKeys <= KeyRing.most else {
            problem = Problem(KeyRefusal.isFull)
            return
        }
        guard turn.calendars.count + newCalendars <= CalendarTable.most else {
            problem = Problem(CalendarRefusal.isFull)
            return
        }
        phase = .apply
        if let known, known.part == request.part { done = known.lines }
        next = done
    }

    /// Checks whether a key may be taken. Returns false where the part is refused.
    private func check(_ key: AccessKey, _ turn: borrowing Turn, _ line: Int) -> Bool {
        do throws(ServiceError) {
            if turn.accessKeys[key.id] == nil { newKeys += 1 }
            _ = try turn.takenKey(key, request.policy, by: request.grantor)
            return true
        } catch {
            problem = request.problem(Problem(error, timer: []), line: line)
            return false
        }
    }

    /// Checks whether a calendar may be taken. Returns false where the part is refused.
    private func check(_ calendar: NamedCalendar, _ turn: borrowing Turn, _ line: Int) -> Bool {
        do throws(ServiceError) {
            if turn.calendars[calendar.name] == nil { newCalendars += 1 }
            calendarNames.insert(calendar.name)
            _ = try turn.takenCalendar(calendar, request.policy)
            return true
        } catch {
            problem = request.problem(Problem(error, timer: []), line: line)
            return false
        }
    }

    /// Checks whether the calendar of a timer is here, or comes with the part. Returns false where the part is refused.
    private func checkCalendar(of timer: ImportedTimer, _ turn: borrowing Turn, _ line: Int) -> Bool {
        guard let name = Definition.calendarName(timer.definition.span), turn.calendars[name] == nil,
            !calendarNames.contains(name), !timer.arrival.progress.state.hasEnded
        else { return true }
        let text = String(decoding: name.bytes, as: UTF8.self)
        let missing = Problem(.invalidSchedule, "there is no calendar `\(text)`", pointer: "/calendar")
        problem = request.problem(missing, line: line)
        return false
    }

    /// Whether no other request has gone on with the import since this one looked; otherwise the part is refused.
    private func isAlone(_ turn: borrowing Turn) -> Bool {
        guard turn.importProgress(of: request.export) != known else { return true }
        problem = Problem(.idempotencyInProgress, "another request imports this export")
        return false
    }

    private func apply(_ turn: borrowing Turn) throws(ServiceError) -> Bool {
        try turn.checkAvailable()
        guard isAlone(turn) else { return true }
        hasChanged = true
        // The first record of the import marks its beginning: timers made after it came with the import.
        if known == nil { keep(turn) }
        if let error = applyItems(turn) { throw error }
        guard items.isEmpty, next == ranges.count else { return false }
        done = ranges.count
        keep(turn, isWhole: true)
        return true
    }

    /// Applies lines that were read until the hold of the lock has cost as much as it may, and records the progress.
    ///
    /// - Returns: the error for which the next line can't be applied now.
    private func applyItems(_ turn: borrowing Turn) -> ServiceError? {
        var failure: ServiceError?
        var applied = 0
        let begin = known?.begin ?? 0
        for item in items {
            do throws(ServiceError) { try apply(item.content, since: begin, turn) } catch {
                failure = error
                break
            }
            applied += 1
            done = item.line + 1
            if turn.isSpent { break }
        }
        items.removeFirst(applied)
        if applied > 0 && !(items.isEmpty && next == ranges.count) { keep(turn) }
        return failure
    }

    private func keep(_ turn: borrowing Turn, isWhole: Bool = false) {
        var progress = ImportProgress(
            export: request.export, part: request.part, fingerprint: request.fingerprint, at: turn.now.wall)
        progress.lines = done
        progress.linesBefore = linesBefore
        progress.begin = known?.begin ?? 0
        progress.versionFloor = versionFloor
        progress.isWhole = isWhole
        progress.isLast = isLast
        progress.isCopy = isCopy
        turn.keep(progress)
        known = turn.importProgress(of: request.export)
    }

    private func apply(_ content: ImportLine, since begin: Int64, _ turn: borrowing Turn) throws(ServiceError) {
        switch content {
        case .head(_, let floor): versionFloor = floor
        case .end: try turn.raiseVersionFloor(versionFloor)
        case .key(let key):
            guard let key, try turn.takeKey(key, request.policy, by: request.grantor) else {
                counts.skipped += 1
                return
            }
        case .calendar(let calendar):
            if try !turn.takeCalendar(calendar, request.policy) { counts.skipped += 1 }
        case .timer(let timer):
            var definition = timer.definition
            let isTaken = try turn.take(
                key(timer.id), definition: &definition, timer.arrival, request.policy, since: begin)
            if !isTaken { counts.skipped += 1 } else if !timer.isAgain { counts.timers += 1 }
        case .delivery(let delivery):
            let isTaken = try turn.take(
                delivery.detail, key(delivery.timer), event: delivery.event, by: delivery.actor,
                definition: delivery.definition, origin: delivery.origin, takesDeliveries: delivery.takesDeliveries,
                since: begin)
            if isTaken { counts.deliveries += 1 } else { counts.skipped += 1 }
        }
    }

    /// The answer.
    var outcome: Outcome {
        return .object { json in
            json.member("applied", hasChanged)
            json.member("next", Int64(known.nextPart))
            json.member("complete", known?.isComplete ?? false)
            if hasChanged {
                json.member("timers", Int64(counts.timers))
                json.member("deliveries", Int64(counts.deliveries))
                json.member("skipped", Int64(counts.skipped))
            }
        }
    }
}

extension ImportProgress {
    /// Whether the last part of the export is done.
    var isComplete: Bool { isWhole && isLast }
}

extension ImportProgress? {
    /// The number of the next part.
    var nextPart: Int {
        guard let self else { return 0 }
        return self.isWhole ? self.part + 1 : self.part
    }
}

extension JSONDocument {
    /// Parses a line, in which a timer is nested deeper by one than by itself.
    fileprivate mutating func parse(line body: [UInt8], _ range: Range<Int>) throws(Problem) {
        do throws(JSONError) { try parse(body, range, maximumDepth: JSONDocument.maximumDepth + 1) } catch {
            throw Problem(.invalidRequest, error.message, pointer: error.pointer)
        }
    }
}
