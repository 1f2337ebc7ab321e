import TOML
import TimerCore
import WireJSON

/// A timer as a file declares it.
struct DeclaredTimer: Sendable {
    /// Most bytes of a timer; the server takes fewer.
    static let limit = 1 << 20

    /// The id, valid as that of a timer.
    let id: String
    /// The body of a create with the id in it, as JSON without white space between its tokens.
    let body: [UInt8]
    /// The line of the file on which the timer begins, from 1.
    let line: Int

    /// Reads the JSON in `range` of `text`.
    ///
    /// - Throws: where that is too long, no JSON object, or has no valid id; the error names `place`.
    init(
        json text: [UInt8], _ range: Range<Int>, _ document: inout JSONDocument, line: Int, place: String
    ) throws(Failure) {
        guard range.count <= Self.limit else { throw Failure(.usage, "\(place): over \(Self.limit) bytes") }
        do throws(JSONError) {
            try document.parse(text, range)
        } catch {
            throw Failure(.usage, "\(place) is not JSON: \(error.message) at byte \(error.offset)")
        }
        guard document.kind(document.root) == .object else {
            throw Failure(.usage, "\(place): a timer is a JSON object")
        }
        guard let id = document.member(document.root, "id"), document.kind(id) != .null else {
            throw Failure(.usage, "\(place): a timer in a file needs an `id`")
        }
        let name = document.string(id)
        guard document.kind(id) == .string, TimerID.isValid(name) else {
            var spelling: [UInt8] = []
            document.appendCompact(id, to: &spelling)
            throw Failure(
                .usage, "\(place): \(Printable.text(String(decoding: spelling, as: UTF8.self))) can't be an id")
        }
        var body: [UInt8] = []
        document.appendCompact(document.root, to: &body)
        self.id = String(decoding: name, as: UTF8.self)
        self.body = body
        self.line = line
    }

    /// Reads a table of a TOML document, whose name is the id unless an `id` is in it.
    init(toml entry: TOMLEntry, _ document: inout JSONDocument, place: String) throws(Failure) {
        guard case .table(let members) = entry.value else {
            throw Failure(.usage, "\(place): expected a table, [\(Printable.text(entry.key))], with a timer in it")
        }
        var writer = JSONWriter()
        writer.beginObject()
        if !members.contains(where: { $0.key == "id" }) {
            writer.key("id")
            writer.string(entry.key)
        }
        for member in members { try member.write(to: &writer, place: place) }
        writer.endObject()
        let json = writer.bytes
        try self.init(json: json, 0..<json.count, &document, line: entry.line, place: place)
    }
}

extension TOMLEntry {
    /// Writes the entry as a member of a JSON object.
    fileprivate func write(to writer: inout JSONWriter, place: String) throws(Failure) {
        writer.key(bytes: Array(key.utf8))
        try value.write(to: &writer, place: "\(place), \(Printable.text(key))")
    }
}

extension TOMLValue {
    /// Writes the value as JSON; a date or time is a string.
    fileprivate func write(to writer: inout JSONWriter, place: String) throws(Failure) {
        switch self {
        case .string(let text), .time(let text): writer.string(text)
        case .integer(let number): writer.integer(number)
        case .boolean(let flag): writer.bool(flag)
        case .float(let number):
            guard number.isFinite else { throw Failure(.usage, "\(place): JSON has no number \(number)") }
            writer.number(number)
        case .array(let elements):
            writer.beginArray()
            for element in elements { try element.value.write(to: &writer, place: place) }
            writer.endArray()
        case .table(let entries):
            writer.beginObject()
            for entry in entries { try entry.write(to: &writer, place: place) }
            writer.endObject()
        }
    }
}
