import TimerCore
import WireJSON

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
