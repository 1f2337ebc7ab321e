import Platform
import TimerCore
import TimerService
import WireJSON

/// A batch under way. Its lines are applied in order and independently of each other, a bounded
/// number in one hold of the lock.
final class BatchRun {
    private enum Line {
        /// `definition` is an index into `definitions`.
        case create(TimerKey, id: [UInt8], definition: Int)
        case command(TimerCommand, TimerKey, id: [UInt8], RescheduleTarget?, VersionCondition)
        case delete(TimerKey, id: [UInt8], VersionCondition)
        indirect case declare(Declaration)
        case problem(ProblemText)

        /// The hash of the key of the line's timer; 0 where it has none.
        var hash: UInt64 {
            switch self {
            case .create(let key, _, _), .command(_, let key, _, _, _), .delete(let key, _, _): key.hash
            case .declare(let declaration): declaration.key.hash
            case .problem: 0
            }
        }
    }

    /// The form of the lines and of their results.
    let form: BatchForm
    private let body: [UInt8]
    private let ranges: [Range<Int>]
    private let principal: Principal
    private let rule: WebhookRule
    private let siphash: SipHash
    private let zones: any ZoneSource
    private let clock: () -> Int64
    private var isBrief: Bool
    /// Whether the results of each step are kept for repeated requests.
    private let keepsParts: Bool
    private var next = 0
    private var lines: [Line] = []
    /// The number of `lines` that were applied.
    private var applied = 0
    /// The definitions of the timers to be made. They are kept out of the lines, so that they are changed in place.
    private var definitions: [[UInt8]] = []
    private var results: [BatchResult] = []
    /// The encoded results since the last part was taken.
    private var part: [UInt8] = []
    /// The bytes of the result lines with a whole timer; a line that is not written yet counts with the bytes of its
    /// timer's definition.
    private var wholeBytes = 0
    private var document = JSONDocument()
    /// The result lines so far.
    private var output = JSONWriter()

    init(
        _ body: [UInt8], _ form: BatchForm, isBrief: Bool, keepsParts: Bool, by principal: Principal = .nobody,
        _ rule: WebhookRule = .none, siphash: SipHash, zones: any ZoneSource,
        clock: @escaping () -> Int64 = Clocks.monotonic
    ) throws(Problem) {
        self.clock = clock
        self.principal = principal
        self.rule = rule
        self.body = body
        self.form = form
        self.isBrief = isBrief
        self.keepsParts = keepsParts
        self.siphash = siphash
        self.zones = zones
        ranges = try form.ranges(in: body, &document)
    }

    /// An approximate upper bound on the bytes of the answer.
    var mostAnswerBytes: Int {
        let brief = ranges.count * APILimits.briefResultBytes
        if isBrief { return brief }
        return brief + min(ranges.count * APILimits.timerBytes, APILimits.wholeResultBytes + APILimits.timerBytes)
    }

    /// Whether every line was applied. `prepare` has still to write the last results.
    var isApplied: Bool { next == ranges.count && lines.isEmpty }

    /// Whether any line was applied.
    var hasBegun: Bool { next > lines.count - applied }

    /// Writes the results of the last step and reads the lines of the next; called outside of the lock.
    func prepare(_ makeID: () -> [UInt8], requestID: [UInt8]) {
        for result in results { writeResult(result, requestID) }
        results.removeAll(keepingCapacity: true)
        guard lines.isEmpty else { return }
        // The document is taken out of the object while lines are read: there, each use would copy it.
        var document = JSONDocument()
        swap(&document, &self.document)
        defer { swap(&document, &self.document) }
        let end = min(ranges.count, next + APILimits.appliedPerStep)
        var bytes = 0
        let started = clock()
        while next < end, bytes < APILimits.bytesPerStep {
            if lines.count % 8 == 7, clock() - started >= APILimits.readingPerStep { break }
            do throws(Problem) { lines.append(try read(ranges[next], &document, makeID)) } catch {
                lines.append(.problem(ProblemText(error)))
            }
            bytes += ranges[next].count
            next += 1
        }
    }

    private func writeResult(_ result: BatchResult, _ requestID: [UInt8]) {
        let start = output.count
        form.write(result, &output, requestID: requestID, to: principal)
        guard case .whole(_, _, let view) = result else { return }
        wholeBytes += output.count - start - view.definition.count
    }

    /// Appends the results, all of which are written.
    func appendOutput(to bytes: inout [UInt8]) {
        output.append(0..<output.count, to: &bytes)
        bytes += form.ending(isEmpty: output.count == 0)
    }

    /// The bytes of the result lines so far.
    var outputBytes: Int { output.count }

    private func read(
        _ range: Range<Int>, _ document: inout JSONDocument, _ makeID: () -> [UInt8]
    ) throws(Problem) -> Line {
        try form.parse(body, range, &document)
        if let word = document.member(document.root, "command") {
            return try command(word, document)
        }
        if document.kind(document.root) == .object, let timer = document.member(document.root, "apply") {
            return .declare(try declaration(timer, document))
        }
        try principal.checkMaking(document)
        let timer = try TimerBody(document, zones: zones)
        let id = timer.id ?? makeID()
        let definition = try rule.checked(timer.definition(id: id))
        // The definition has the kept form of the id already.
        let key = TimerKey(definition: definition.span, siphash: siphash)
        definitions.append(definition)
        return .create(key, id: id, definition: definitions.count - 1)
    }

    private func command(_ word: JSONNode, _ document: JSONDocument) throws(Problem) -> Line {
        guard document.kind(word) == .string else {
            throw Problem(.invalidRequest, "`command` must be a word", pointer: "/command")
        }
        let name = String(decoding: document.string(word), as: UTF8.self)
        guard let node = document.member(document.root, "id"), document.kind(node) == .string else {
            throw Problem(.invalidRequest, "a command line needs the timer's `id`", pointer: "/id")
        }
        let id = document.string(node)
        try principal.check(name == "kick" ? .kick : .write, timer: id)
        let condition = try condition(document)
        // Whether the condition holds would show the version of a timer that the key can't read.
        if principal.isKickOnly && condition != .none { throw .forbidden(.read) }
        let known = name == "delete" || TimerCommand.allCases.contains { "\($0.name)" == name }
        guard known else { throw Problem(.invalidRequest, "there is no command `\(name)`", pointer: "/command") }
        let own: Set<String> = ["command", "id", "ifMatch"]
        guard TimerID.isValid(id) else { throw Problem(.notFound, "there is no timer with this id") }
        let key = TimerKey(id: id.span, siphash: siphash)
        if name == "reschedule" {
            let target = try CommandBody.target(document, document.root, ignored: own)
            return .command(.reschedule, key, id: id, target, condition)
        }
        try requireMembers(own, of: "a command line", document)
        for command in TimerCommand.allCases where "\(command.name)" == name {
            return .command(command, key, id: id, nil, condition)
        }
        return .delete(key, id: id, condition)
    }

    /// Reads the version that the line asks for.
    private func condition(_ document: JSONDocument) throws(Problem) -> VersionCondition {
        guard let tag = document.member(document.root, "ifMatch"), document.kind(tag) != .null else { return .none }
        guard document.kind(tag) == .string, let version = Conditions.plainVersion(document.string(tag)[...]) else {
            throw Problem(
                .invalidRequest, "`ifMatch` is a version such as v3, without the quotes of a tag", pointer: "/ifMatch")
        }
        return .oneOf([version])
    }

    /// Refuses a line with members other than `names`.
    private func requireMembers(
        _ names: Set<String>, of line: String, _ document: JSONDocument
    ) throws(Problem) {
        for member in document.children(of: document.root)
        where !names.contains(String(decoding: document.keyBytes(member), as: UTF8.self)) {
            throw Problem(noField: member, of: line, document, among: names.sorted())
        }
    }

    /// Reads a timer that a line declares. Problems point into the line.
    private func declaration(_ timer: JSONNode, _ document: JSONDocument) throws(Problem) -> Declaration {
        let condition = try condition(document)
        try requireMembers(["apply", "ifMatch"], of: "an `apply` line", document)
        do throws(Problem) {
            var declared = JSONDocument()
            do throws(JSONError) { try declared.parse(document.compact(timer)) } catch {
                throw Problem(.invalidRequest, error.message, pointer: error.pointer)
            }
            try principal.checkMaking(declared)
            let body = try TimerBody(declared, zones: zones)
            guard let id = body.id else {
                throw Problem(.invalidRequest, "an `apply` line needs the timer's `id`", pointer: "/id")
            }
            return try Declaration(body, id: id, key: TimerKey(id: id.span, siphash: siphash), if: condition, rule)
        } catch {
            throw Self.inApply(error)
        }
    }

    /// Makes the problem of a declared timer one of its line, by its pointer.
    private static func inApply(_ problem: Problem) -> Problem {
        var problem = problem
        problem.pointer = problem.pointer.map { "/apply\($0)" }
        return problem
    }

    /// Applies the lines that were read, until the hold of the lock has cost as much as it may.
    ///
    /// - Throws: under an idempotency key, if the server can't apply a line at present: a later step
    ///   tries the line again.
    func apply(_ turn: borrowing Turn) throws(ServiceError) {
        turn.fetch(lines[applied...].map(\.hash))
        while applied < lines.count {
            let result = apply(lines[applied], turn)
            if keepsParts {
                if case .refused(let error, _) = result, error.isTransient { throw error }
                if part.isEmpty { part.append(PartShape.lines.rawValue) }
                result.append(to: &part)
            }
            results.append(result)
            applied += 1
            if turn.isSpent { break }
        }
        guard applied == lines.count else { return }
        lines.removeAll(keepingCapacity: true)
        definitions.removeAll(keepingCapacity: true)
        applied = 0
    }

    private func apply(_ line: Line, _ turn: borrowing Turn) -> BatchResult {
        var timer: [UInt8] = []
        do throws(ServiceError) {
            switch line {
            case .problem(let problem):
                return .problem(problem)
            case .create(let key, let id, let index):
                timer = id
                return shown(try turn.create(key, definition: &definitions[index]), id, status: 201, turn)
            case .command(let command, let key, let id, let target, let condition):
                timer = id
                return shown(try turn.apply(command, key, target: target, if: condition), id, status: 200, turn)
            case .delete(let key, let id, let condition):
                timer = id
                try turn.delete(key, if: condition)
                return .deleted(id: id)
            case .declare(let declaration):
                timer = declaration.id
                return try apply(declaration, turn)
            }
        } catch {
            return .refused(error, id: timer)
        }
    }

    private func apply(_ declaration: Declaration, _ turn: borrowing Turn) throws(ServiceError) -> BatchResult {
        do throws(ServiceError) {
            switch try declaration.apply(turn) {
            case .timer(let slot, let isNew): return shown(slot, declaration.id, status: isNew ? 201 : 200, turn)
            case .problem(let problem): return .problem(ProblemText(Self.inApply(problem)))
            case .differences: preconditionFailure("a line of a batch is no dry run")
            }
        } catch {
            guard case .refused(.invalidSchedule(let pointer, let reason)) = error else { throw error }
            throw .refused(.invalidSchedule(pointer: "/apply\(pointer)", reason: reason))
        }
    }

    private func shown(_ slot: SlotIndex, _ id: [UInt8], status: Int, _ turn: borrowing Turn) -> BatchResult {
        if isBrief || wholeBytes >= APILimits.wholeResultBytes {
            let version = turn.read { (scheduler: borrowing Scheduler) in scheduler.progress(slot).version }
            return .timer(status: status, id: id, version: version)
        }
        var view = TimerView()
        turn.copy(slot, into: &view)
        wholeBytes += view.definition.count
        return .whole(status: status, id: id, view)
    }
}

extension BatchRun: PartedRun {
    var isTotal: Bool { false }

    func takePart(isLast: Bool) -> [UInt8]? {
        defer { part.removeAll(keepingCapacity: true) }
        // A batch without lines has an answer too.
        if part.isEmpty && isLast { part.append(PartShape.lines.rawValue) }
        return part.isEmpty ? nil : part
    }

    func resume(behind parts: [[UInt8]]) -> Bool {
        var kept: [BatchResult] = []
        for part in parts {
            guard let results = BatchResult.read(part) else { return false }
            kept += results
        }
        guard kept.count <= ranges.count else { return false }
        output.reset()
        (wholeBytes, applied) = (0, 0)
        lines.removeAll()
        definitions.removeAll()
        part.removeAll()
        results = kept
        next = kept.count
        if !kept.isEmpty { isBrief = true }
        return true
    }
}

extension ServiceError {
    /// Whether the error is about the server's present state, and not about the change.
    fileprivate var isTransient: Bool {
        if case .refused = self { return false }
        return true
    }
}
