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
    func write(_ json: inout JSONWriter, requestID: [UInt8]) {
        json.beginObject()
        json.key("status")
        switch self {
        case .timer(let status, let id, let version):
            json.integer(Int64(status))
            json.key("id")
            json.string(id)
            json.member("version", version)
        case .whole(let status, _, let view):
            json.integer(Int64(status))
            json.key("timer")
            TimerJSON.write(view, &json)
        case .deleted(let id):
            json.integer(204)
            json.key("id")
            json.string(id)
        case .refused(let error, let id):
            ProblemText(Problem(error, timer: id)).write(&json, requestID: requestID)
        case .problem(let text):
            text.write(&json, requestID: requestID)
        }
        json.endObject()
    }
}
