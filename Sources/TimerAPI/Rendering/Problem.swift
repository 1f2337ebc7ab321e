import TimerCore
import WireJSON

/// One problem of one request, after RFC 9457.
package struct Problem: Error {
    var kind: ProblemKind
    var detail: String
    /// The status code, if it differs from the kind's usual one.
    var status: Int?
    /// The JSON pointer of the part of the body at fault.
    var pointer: String?
    /// The number of the line of an import at fault, from 1; blank lines do not count.
    var line: Int?
    /// The name of the query parameter at fault.
    var parameter: String?
    /// The timer's id.
    var timer: [UInt8]?
    var state: TimerState?
    var command: String?
    var allowed: [TimerCommand]?
    /// The commands that exist, if the path named none of them.
    var commands: [TimerCommand]?
    var didYouMean: String?
    var current: Int64?
    var outcome: String?
    var oldest: EventID?
    var newest: EventID?
    /// The URL of the node that answers for the timer.
    var owner: String?
    /// The value of the `Allow` header.
    var allow: String?
    /// The seconds for `Retry-After`.
    var retryAfter: Int?

    init(_ kind: ProblemKind, _ detail: String, pointer: String? = nil, parameter: String? = nil) {
        self.kind = kind
        self.detail = detail
        self.pointer = pointer
        self.parameter = parameter
    }

    /// Writes the problem as a JSON object.
    func write(_ json: inout JSONWriter, instance: [UInt8], requestID: [UInt8]) {
        writeHead(&json, instance: instance)
        if !requestID.isEmpty {
            json.key("requestId")
            json.string(requestID)
        }
        writeTail(&json)
    }

    /// Writes the members before `requestId`.
    func writeHead(_ json: inout JSONWriter, instance: [UInt8]) {
        json.beginObject()
        json.key("type")
        json.string("/problems/\(kind.rawValue)")
        json.key("title")
        json.string(kind.title)
        json.member("status", Int64(status ?? kind.status))
        json.key("detail")
        json.string(Self.clipped(detail))
        if !instance.isEmpty {
            json.key("instance")
            json.string(instance)
        }
    }

    /// Writes the members after `requestId`.
    func writeTail(_ json: inout JSONWriter) {
        writeText(&json, "pointer", pointer.map(Self.clipped))
        if let line { json.member("line", Int64(line)) }
        writeText(&json, "parameter", parameter)
        if let timer {
            json.key("timer")
            json.string(timer)
        }
        writeText(&json, "state", state.map { "\($0.name)" })
        writeText(&json, "command", command)
        writeCommands(&json, "allowed", allowed)
        writeCommands(&json, "commands", commands)
        writeText(&json, "didYouMean", didYouMean)
        if let current {
            json.member("current", current)
        }
        writeText(&json, "oldest", oldest?.text)
        writeText(&json, "newest", newest?.text)
        writeText(&json, "owner", owner)
        // A refusal with 503 has changed nothing, unless its outcome says otherwise.
        writeText(&json, "outcome", outcome ?? ((status ?? kind.status) == 503 ? "none" : nil))
        json.endObject()
    }

    /// The characters after which a detail or a pointer is cut, since they repeat names and words of the request.
    private static let longestText = 512

    private static func clipped(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(longestText))) + "…"
    }

    private func writeText(_ json: inout JSONWriter, _ name: StaticString, _ text: String?) {
        guard let text else { return }
        json.key(name)
        json.string(text)
    }

    private func writeCommands(_ json: inout JSONWriter, _ name: StaticString, _ commands: [TimerCommand]?) {
        guard let commands else { return }
        json.key(name)
        json.beginArray()
        for command in commands { json.string(command.name) }
        json.endArray()
    }
}
