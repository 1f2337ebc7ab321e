import TimerCore
import TimerLog
import TimerService
import WireJSON

/// A part of an import under way: it is looked up how far it came before, every line is checked, and then the lines of one
/// partition after the other are applied. How far that is stands in the log with what was done, so that a part that a crash
/// cut goes on behind it when it is sent again.
final class ImportRun {
    private enum Phase {
        /// How far the import has come is looked up, one partition after the other.
        case look
        /// Lines are read and checked. Nothing is changed.
        case check
        /// Lines are read again and applied.
        case apply
    }

    /// A line of the part that was read, by its number in the client's part, with its partition.
    private typealias Item = (line: Int, content: ImportLine, partition: Int?)

    let request: ImportRequest
    /// Which owner gets which line, where several have some.
    var spread: ImportSpread
    private let layout: PartitionLayout
    private let siphash: SipHash
    private let zones: any ZoneSource
    /// The partitions that it goes through.
    private let scope: PartitionScope
    private let numbers: [Int]
    private var lines: [ImportRequest.Line] { request.lines }
    private var document = JSONDocument()
    private var phase = Phase.look
    /// The partition of the next step.
    private(set) var partition: Int
    /// How far the import has come, by partition.
    private var known: [Int: ImportProgress] = [:]
    private var linesBefore = 0
    /// Of each line checked, its partition; nil for a line that concerns all.
    private var partitions: [Int?] = []
    /// Lines that were read and not checked or applied yet, and the place of the next one to be read.
    private var items: [Item] = []
    private var next = 0
    /// Lines of this leg that are done, those of other partitions counted.
    private var done = 0
    private var hasBegunLeg = false
    private var newTimers = 0
    private var standing = 0
    private var isLast = false
    private var isCopy: Bool
    private var counts = (timers: 0, deliveries: 0, skipped: 0)
    /// Why the part is refused.
    private(set) var problem: Problem?
    /// Whether anything was changed.
    private(set) var hasChanged = false

    /// - Parameter part: the partitions whose lines have come; nil: all.
    init(
        _ request: ImportRequest, _ layout: PartitionLayout, part: PartitionScope?, siphash: SipHash,
        zones: any ZoneSource
    ) {
        self.request = request
        self.layout = layout
        self.siphash = siphash
        self.zones = zones
        isCopy = request.isCopy
        scope = part ?? PartitionScope(layout)
        numbers = scope.numbers
        partition = scope.first() ?? 0
        spread = ImportSpread(request, layout, siphash: siphash)
    }

    // MARK: Outside of the lock

    /// Reads the lines of the next step.
    func prepare() {
        guard problem == nil, items.isEmpty, phase != .look else { return }
        var bytes = 0
        while next < lines.count, items.count < APILimits.appliedPerStep, bytes < APILimits.bytesPerStep {
            let (place, line) = (next, lines[next])
            next += 1
            if phase == .apply, let owner = partitions[place], owner != partition { continue }
            do throws(Problem) {
                try document.parse(line: request.body, line.range)
                let content = try ImportLine(
                    document, export: request.exportText, dropsSecrets: request.dropsSecrets, zones: zones)
                if phase == .check { try check(content, line.number) }
                items.append((line.number, content, owner(of: content)))
            } catch {
                problem = request.problem(error, line: line.number)
                return
            }
            bytes += line.range.count
        }
        if phase == .check, let first = items.first { partition = first.partition ?? numbers.first ?? 0 }
    }

    /// Checks what needs no lock.
    private func check(_ content: ImportLine, _ line: Int) throws(Problem) {
        let owner = owner(of: content)
        guard owner.map({ scope.contains($0) }) ?? true else { throw .misdirectedByPeer }
        partitions.append(owner)
        let isFirst = request.part == 0 && line == 0
        switch content {
        case .head(let isDrained, _):
            guard isFirst else {
                throw Problem(.invalidRequest, "the export's first line stands at its beginning", pointer: "")
            }
            guard isDrained || request.isCopy else {
                throw Problem(.stillRunning, "the server was not drained when it made the export")
            }
            isCopy = !isDrained
        case .end(let lines):
            guard line + 1 == request.total else {
                throw Problem(.invalidRequest, "lines follow the last one", pointer: "")
            }
            guard lines == linesBefore + line else {
                throw Problem(
                    .invalidRequest, "the export has \(lines) lines before this one, and \(linesBefore + line) came",
                    pointer: "/lines")
            }
            isLast = true
        case .timer, .delivery:
            guard !isFirst else {
                throw Problem(.invalidRequest, "an export begins with the line `export`", pointer: "")
            }
        }
    }

    private func owner(of content: ImportLine) -> Int? {
        switch content {
        case .head, .end: nil
        case .timer(let timer): layout.partition(ofHash: key(timer.id).hash)
        case .delivery(let delivery): layout.partition(ofHash: key(delivery.timer).hash)
        }
    }

    private func key(_ id: [UInt8]) -> TimerKey { TimerKey(id: id.span, siphash: siphash) }

    // MARK: Under the lock

    /// Takes a bounded step in `partition`. Returns whether the run is done, or refused.
    func step(_ turn: borrowing Turn) throws(ServiceError) -> Bool {
        if problem != nil { return true }
        switch phase {
        case .look: return look(turn)
        case .check:
            checkConflicts(turn)
            return problem != nil || request.isCheck && phase == .apply
        case .apply: return try apply(turn)
        }
    }

    private func look(_ turn: borrowing Turn) -> Bool {
        known[partition] = turn.importProgress(of: request.export)
        standing += turn.count
        if let following = scope.next(after: partition) {
            partition = following
            return false
        }
        partition = numbers.first ?? 0
        let nexts = nexts
        if nexts.allSatisfy({ $0 > request.part }) { return true }
        guard nexts.allSatisfy({ $0 >= request.part }) else {
            problem = Problem(
                .invalidRequest, "parts come in their order: the next one is \(nexts.min() ?? 0)", parameter: "part")
            return true
        }
        if known.values.contains(where: { $0.isComplete && $0.part != request.part }) {
            problem = Problem(.invalidRequest, "the export is imported: it has no further parts", parameter: "part")
            return true
        }
        if known.values.contains(where: { $0.part == request.part && $0.fingerprint != request.fingerprint }) {
            problem = Problem(.idempotencyMismatch, "this part was begun with another body")
            return true
        }
        for progress in known.values {
            isCopy = progress.isCopy
            linesBefore = progress.linesBefore + (progress.part == request.part ? 0 : progress.lines)
        }
        phase = .check
        return false
    }

    /// Looks whether ids are taken. Once all lines are checked, the run goes on to apply them.
    private func checkConflicts(_ turn: borrowing Turn) {
        let begin = known[partition]?.begin ?? .max
        for item in items where item.partition ?? partition == partition {
            guard case .timer(let timer) = item.content else { continue }
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
        items.removeAll { $0.partition ?? partition == partition }
        if let first = items.first { return partition = first.partition ?? numbers.first ?? 0 }
        guard next == lines.count else { return }
        let most = turn.read { (scheduler: borrowing Scheduler) in scheduler.maximumTimers }
        guard standing + newTimers <= most else {
            problem = Problem(
                .timerLimit, "the server holds \(standing) timers and may hold \(most): the part has \(newTimers) more")
            return
        }
        phase = .apply
        beginLeg(from: numbers.first)
    }

    /// The part that is next in each partition.
    private var nexts: [Int] { numbers.map { known[$0].nextPart } }

    /// Goes on with the next partition, of those from `first` on, in which the part is not done. Returns false where there is none.
    @discardableResult
    private func beginLeg(from first: Int?) -> Bool {
        var number = first
        while let done = number, known[done].nextPart > request.part { number = scope.next(after: done) }
        guard let number else { return false }
        partition = number
        hasBegunLeg = false
        let progress = known[partition]
        done = progress?.part == request.part ? progress?.lines ?? 0 : 0
        next = lines.partitionPoint { $0.number >= done }
        return true
    }

    private func apply(_ turn: borrowing Turn) throws(ServiceError) -> Bool {
        try turn.checkAvailable()
        guard turn.importProgress(of: request.export) == known[partition] else {
            problem = Problem(.idempotencyInProgress, "another request imports this export")
            return true
        }
        hasChanged = true
        if !hasBegunLeg {
            // The first record of the import here: timers behind it came with it.
            if known[partition] == nil { keep(turn) }
            hasBegunLeg = true
        }
        if let error = applyItems(turn) { throw error }
        guard items.isEmpty, next == lines.count else { return false }
        done = request.total
        keep(turn, isWhole: true)
        return !beginLeg(from: scope.next(after: partition))
    }

    /// Applies lines that were read until the hold of the lock has cost as much as it may, and records how far that is.
    ///
    /// - Returns: why the next one can't be applied now.
    private func applyItems(_ turn: borrowing Turn) -> ServiceError? {
        var failure: ServiceError?
        var applied = 0
        let begin = known[partition]?.begin ?? 0
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
        if applied > 0 && !(items.isEmpty && next == lines.count) { keep(turn) }
        return failure
    }

    private func keep(_ turn: borrowing Turn, isWhole: Bool = false) {
        var progress = ImportProgress(
            export: request.export, part: request.part, fingerprint: request.fingerprint, at: turn.now.wall)
        progress.lines = done
        progress.linesBefore = linesBefore
        progress.begin = known[partition]?.begin ?? 0
        progress.isWhole = isWhole
        progress.isLast = isLast
        progress.isCopy = isCopy
        turn.keep(progress)
        known[partition] = turn.importProgress(of: request.export)
    }

    private func apply(_ content: ImportLine, since begin: Int64, _ turn: borrowing Turn) throws(ServiceError) {
        switch content {
        case .head(_, let floor): try turn.raiseVersionFloor(floor)
        case .end: break
        case .timer(let timer):
            var definition = timer.definition
            let isTaken = try turn.take(
                key(timer.id), definition: &definition, timer.arrival, request.policy, since: begin)
            if !isTaken { counts.skipped += 1 } else if !timer.isAgain { counts.timers += 1 }
        case .delivery(let delivery):
            let isTaken = try turn.take(
                delivery.standing, key(delivery.timer), event: delivery.event, definition: delivery.definition,
                origin: delivery.origin, takesDeliveries: delivery.takesDeliveries, since: begin)
            if isTaken { counts.deliveries += 1 } else { counts.skipped += 1 }
        }
    }

    /// The answer.
    var outcome: Outcome {
        let result = ImportResult(
            isApplied: hasChanged, next: nexts.min(), isComplete: numbers.allSatisfy { known[$0]?.isComplete ?? false },
            timers: counts.timers, deliveries: counts.deliveries, skipped: counts.skipped)
        return .page(status: 200, type: "application/json", result.text)
    }
}

extension ImportProgress {
    /// Whether the last part of the export is done here.
    var isComplete: Bool { isWhole && isLast }
}

extension ImportProgress? {
    /// The part that is next here.
    var nextPart: Int {
        guard let self else { return 0 }
        return self.isWhole ? self.part + 1 : self.part
    }
}

extension JSONDocument {
    fileprivate mutating func parse(line body: [UInt8], _ range: Range<Int>) throws(Problem) {
        do throws(JSONError) { try parse(body, range) } catch {
            throw Problem(.invalidRequest, error.message, pointer: error.pointer)
        }
    }
}

extension [ImportRequest.Line] {
    /// The place of the first line that fulfils `isBehind`, which is true of every line behind one of which it is true.
    fileprivate func partitionPoint(_ isBehind: (ImportRequest.Line) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
