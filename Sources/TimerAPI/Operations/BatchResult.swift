import TimerCore
import TimerService
import WireJSON

/// The outcome of one line of a batch.
///
/// The encoding in a part of a stored answer:
///
/// ```
/// 0, 1    shown: 201, 200       id, svarint version
/// 2       deleted               id
/// 3       refused by the timer  id, the refusal
/// 4       refused as it is      varint status, varint split, varint length, the problem's JSON: see `ProblemText`
/// ```
enum BatchResult {
    case timer(status: Int, id: [UInt8], version: Int64)
    /// The whole timer, as it is after the line.
    indirect case whole(status: Int, id: [UInt8], TimerView)
    case deleted(id: [UInt8])
    case refused(ServiceError, id: [UInt8])
    indirect case problem(ProblemText)

    /// Appends the encoding; called under the lock. A refusal that may not come again the next time is left out.
    func append(to part: inout [UInt8]) {
        switch self {
        case .timer(let status, let id, let version): Self.append(status, id, version, to: &part)
        case .whole(let status, let id, let view): Self.append(status, id, view.progress.version, to: &part)
        case .deleted(let id):
            part.append(2)
            TimerID.appendKept(id.span, to: &part)
        case .refused(.refused(let refusal), let id):
            part.append(3)
            TimerID.appendKept(id.span, to: &part)
            RefusalCodec.append(refusal, to: &part)
        case .refused: break
        case .problem(let text):
            part.append(4)
            text.append(to: &part)
        }
    }

    private static func append(_ status: Int, _ id: [UInt8], _ version: Int64, to part: inout [UInt8]) {
        part.append(status == 201 ? 0 : 1)
        TimerID.appendKept(id.span, to: &part)
        ByteCoding.append(signed: version, to: &part)
    }

    /// Reads what `append` wrote; nil for anything else.
    init?(_ part: Span<UInt8>, _ offset: inout Int) {
        guard let tag = ByteCoding.readFixed(part, &offset, count: 1) else { return nil }
        if tag == 4 {
            guard let text = ProblemText(part, &offset) else { return nil }
            self = .problem(text)
            return
        }
        guard let id = TimerID.readKept(part, &offset) else { return nil }
        switch tag {
        case 0, 1:
            guard let version = ByteCoding.readSigned(part, &offset) else { return nil }
            self = .timer(status: tag == 0 ? 201 : 200, id: id, version: version)
        case 2:
            self = .deleted(id: id)
        case 3:
            guard let refusal = RefusalCodec.read(part, &offset) else { return nil }
            self = .refused(.refused(refusal), id: id)
        default: return nil
        }
    }

    /// Reads the results that `part` keeps; nil if it is no part of a batch's answer.
    static func read(_ part: [UInt8]) -> [BatchResult]? {
        guard PartShape(of: part) == .lines else { return nil }
        var results: [BatchResult] = []
        var offset = 1
        while offset < part.count {
            guard let result = BatchResult(part.span, &offset) else { return nil }
            results.append(result)
        }
        return results
    }

    /// Writes the result as a JSON object.
    func write(_ json: inout JSONWriter, requestID: [UInt8], to principal: Principal) {
        json.beginObject()
        json.key("status")
        switch self {
        case .timer(let status, let id, let version):
            json.integer(principal.isKickOnly ? 204 : Int64(status))
            json.member("id", text: id)
            if !principal.isKickOnly { json.member("version", version) }
        case .whole(_, let id, _) where principal.isKickOnly:
            json.integer(204)
            json.member("id", text: id)
        case .whole(let status, _, let view):
            json.integer(Int64(status))
            json.key("timer")
            TimerJSON.write(view, seesMasks: principal.seesMasks, &json)
        case .deleted(let id):
            json.integer(204)
            json.member("id", text: id)
        case .refused(let error, let id):
            var problem = Problem(error, timer: id)
            if principal.isKickOnly { problem.hideState() }
            ProblemText(problem).write(&json, requestID: requestID)
        case .problem(let text):
            text.write(&json, requestID: requestID)
        }
        json.endObject()
    }
}

/// The problem of a batch's line as JSON, without the id of the request, since a repeated request shows its own.
struct ProblemText {
    private let status: Int
    private let text: [UInt8]
    /// The offset in `text` at which the request's id is inserted.
    private let split: Int

    /// Writes `problem` as JSON.
    init(_ problem: Problem) {
        status = problem.status ?? problem.kind.status
        var json = JSONWriter()
        problem.writeHead(&json, instance: [])
        split = json.count
        problem.writeTail(&json)
        text = json.bytes
    }

    /// Appends the encoding in a part of a stored answer: status, split and length as varints, then the text.
    func append(to part: inout [UInt8]) {
        for number in [status, split] { ByteCoding.append(UInt64(number), to: &part) }
        ByteCoding.append(run: text, to: &part)
    }

    /// Reads what `append` wrote; nil for anything else.
    init?(_ part: Span<UInt8>, _ offset: inout Int) {
        guard let status = ByteCoding.read(part, &offset), let split = ByteCoding.read(part, &offset),
            let text = ByteCoding.readRun(part, &offset), split <= UInt64(text.count)
        else { return nil }
        self.status = Int(truncatingIfNeeded: status)
        self.split = Int(split)
        self.text = text
    }

    /// Writes the status, whose key is written already, and the problem with the request's id.
    func write(_ json: inout JSONWriter, requestID: [UInt8]) {
        var member = JSONWriter()
        member.string(requestID)
        json.integer(Int64(status))
        json.key("problem")
        json.raw(Array(text[..<split]) + Array(",\"requestId\":".utf8) + member.bytes + Array(text[split...]))
    }
}

/// The encoding of a refusal in a part of a stored answer: its number, then its values.
enum RefusalCodec {
    static func append(_ refusal: TimerRefusal, to bytes: inout [UInt8]) {
        switch refusal {
        case .notFound: bytes.append(0)
        case .exists: bytes.append(1)
        case .illegalTransition(let command, let state, let restartable, let isWatchdog):
            bytes += [2, command.rawValue, state.rawValue, restartable ? 1 : 0, isWatchdog ? 1 : 0]
        case .illegalChange(let state, let restartable, let isWatchdog):
            bytes += [3, state.rawValue, restartable ? 1 : 0, isWatchdog ? 1 : 0]
        case .notAWatchdog(let state, let restartable):
            bytes += [4, state.rawValue, restartable ? 1 : 0]
        case .versionMismatch(let current):
            bytes.append(5)
            // 0 means that there is no timer, as no timer has a version below 1.
            ByteCoding.append(signed: current ?? 0, to: &bytes)
        case .invalidSchedule(let pointer, let reason):
            bytes.append(6)
            for text in [pointer, reason] { ByteCoding.append(run: text.utf8, to: &bytes) }
        case .timerLimit(let limit):
            bytes.append(7)
            ByteCoding.append(UInt64(limit), to: &bytes)
        case .missingCalendar(let state, let restartable, let isWatchdog):
            bytes += [8, state.rawValue, restartable ? 1 : 0, isWatchdog ? 1 : 0]
        }
    }

    /// Reads what `append` wrote and moves `offset` past it; nil for anything else.
    static func read(_ bytes: Span<UInt8>, _ offset: inout Int) -> TimerRefusal? {
        guard let number = byte(bytes, &offset) else { return nil }
        switch number {
        case 0: return .notFound
        case 1: return .exists
        case 2:
            guard let command = byte(bytes, &offset).flatMap(TimerCommand.init), let state = state(bytes, &offset),
                let restartable = flag(bytes, &offset), let isWatchdog = flag(bytes, &offset)
            else { return nil }
            return .illegalTransition(command, state: state, restartable: restartable, isWatchdog: isWatchdog)
        case 3:
            guard let state = state(bytes, &offset), let restartable = flag(bytes, &offset),
                let isWatchdog = flag(bytes, &offset)
            else { return nil }
            return .illegalChange(state: state, restartable: restartable, isWatchdog: isWatchdog)
        case 4:
            guard let state = state(bytes, &offset), let restartable = flag(bytes, &offset) else { return nil }
            return .notAWatchdog(state: state, restartable: restartable)
        case 5:
            guard let current = ByteCoding.readSigned(bytes, &offset) else { return nil }
            return .versionMismatch(current: current == 0 ? nil : current)
        case 6:
            guard let pointer = text(bytes, &offset), let reason = text(bytes, &offset) else { return nil }
            return .invalidSchedule(pointer: pointer, reason: reason)
        case 7:
            return ByteCoding.read(bytes, &offset).map { .timerLimit(Int(truncatingIfNeeded: $0)) }
        case 8:
            guard let state = state(bytes, &offset), let restartable = flag(bytes, &offset),
                let isWatchdog = flag(bytes, &offset)
            else { return nil }
            return .missingCalendar(state: state, restartable: restartable, isWatchdog: isWatchdog)
        default: return nil
        }
    }

    private static func byte(_ bytes: Span<UInt8>, _ offset: inout Int) -> UInt8? {
        ByteCoding.readFixed(bytes, &offset, count: 1).map { UInt8($0) }
    }

    private static func flag(_ bytes: Span<UInt8>, _ offset: inout Int) -> Bool? {
        byte(bytes, &offset).map { $0 == 1 }
    }

    private static func state(_ bytes: Span<UInt8>, _ offset: inout Int) -> TimerState? {
        byte(bytes, &offset).flatMap(TimerState.init)
    }

    private static func text(_ bytes: Span<UInt8>, _ offset: inout Int) -> String? {
        ByteCoding.readRun(bytes, &offset).map { String(decoding: $0, as: UTF8.self) }
    }
}
