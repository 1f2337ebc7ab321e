import TOML
import TimerCore
import WireJSON

/// A file of timers: lines of JSON, a JSON array, or TOML with a table for each.
struct DeclarationFile {
    /// Most bytes of a file: all of it is read before anything is sent.
    static let mostBytes = 64 << 20
    /// Most timers in a file.
    static let mostTimers = 100_000

    /// The name of the file in errors.
    let name: String
    /// The timers in the order of the file, no id twice.
    private(set) var timers: [DeclaredTimer] = []
    private var lines: [String: Int] = [:]
    private var document = JSONDocument()

    /// Reads the file at `path`; `-` is standard input.
    ///
    /// - Throws: `usage` where the file can't be read, has none of the three forms, or has an id twice.
    init(reading path: String) throws(Failure) {
        let file = try InputFile(path)
        name = file.name
        var text = try file.readAll(limit: Self.mostBytes)
        if text.starts(with: Self.byteOrderMark) { text.removeFirst(Self.byteOrderMark.count) }
        switch Self.format(of: text, path) {
        case .lines: try readLines(text)
        case .array: try readArray(text)
        case .toml: try readTOML(text)
        }
        document.reset()
    }

    /// U+FEFF in UTF-8, with which some editors begin a file.
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    private enum Format {
        case lines, array, toml
    }

    /// Returns the form of the file. A name that ends in `.toml` decides; otherwise the first bytes do: `[{`
    /// begins an array of timers, `[tea]` a table.
    private static func format(of text: [UInt8], _ path: String) -> Format {
        let first = Array(text.lazy.filter { $0 > 0x20 }.prefix(2))
        if path.hasSuffix(".toml") { return .toml }
        switch first.first {
        case UInt8(ascii: "{"), nil: return .lines
        case UInt8(ascii: "["):
            return first.count > 1 && (first[1] == UInt8(ascii: "{") || first[1] == UInt8(ascii: "]")) ? .array : .toml
        default: return .toml
        }
    }

    private mutating func readLines(_ text: [UInt8]) throws(Failure) {
        var start = 0
        var line = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: 0x0a) ?? text.count
            line += 1
            if text[start..<end].contains(where: { $0 > 0x20 }) { try addJSON(text, start..<end, line) }
            start = end + 1
        }
    }

    private mutating func readArray(_ text: [UInt8]) throws(Failure) {
        guard var items = JSONItems(text) else { return }
        var line = 1
        var counted = 0
        while let range = try next(&items) {
            line += text[counted..<range.lowerBound].count { $0 == 0x0a }
            counted = range.lowerBound
            try addJSON(text, range, line)
        }
    }

    private func next(_ items: inout JSONItems) throws(Failure) -> Range<Int>? {
        do throws(JSONError) {
            return try items.next()
        } catch {
            throw Failure(.usage, "\(name) is not JSON: \(error)")
        }
    }

    private mutating func readTOML(_ text: [UInt8]) throws(Failure) {
        let entries: [TOMLEntry]
        do throws(TOMLError) {
            entries = try TOMLDocument.parse(text)
        } catch {
            throw Failure(.usage, "\(name), line \(error.line): \(error.message)")
        }
        for entry in entries {
            try add(DeclaredTimer(toml: entry, &document, place: "\(name), line \(entry.line)"))
        }
    }

    private mutating func addJSON(_ text: [UInt8], _ range: Range<Int>, _ line: Int) throws(Failure) {
        try add(DeclaredTimer(json: text, range, &document, line: line, place: "\(name), line \(line)"))
    }

    private mutating func add(_ timer: DeclaredTimer) throws(Failure) {
        if let first = lines.updateValue(timer.line, forKey: timer.id) {
            throw Failure(.usage, "\(name): \(timer.id) is there twice, on lines \(first) and \(timer.line)")
        }
        guard timers.count < Self.mostTimers else {
            throw Failure(.usage, "\(name), line \(timer.line): more than \(Self.mostTimers) timers")
        }
        timers.append(timer)
    }

    /// Whether the file declares a timer `id`.
    func declares(_ id: String) -> Bool { lines[id] != nil }
}

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
            throw Failure(.usage, "\(place) is not JSON: \(error)")
        }
        guard document.kind(document.root) == .object else {
            throw Failure(.usage, "\(place): a timer is a JSON object")
        }
        guard let id = document.member(document.root, "id"), document.kind(id) != .null else {
            throw Failure(.usage, "\(place): a timer in a file needs an `id`")
        }
        let name = document.string(id)
        guard document.kind(id) == .string, TimerID.isValid(name) else {
            let spelling = String(decoding: document.compact(id), as: UTF8.self)
            throw Failure(.usage, "\(place): \(Printable.text(spelling)) can't be an id")
        }
        self.id = String(decoding: name, as: UTF8.self)
        body = document.compact(document.root)
        self.line = line
    }

    /// Reads a table of a TOML document, whose name is the id unless an `id` is in it.
    init(toml entry: TOMLEntry, _ document: inout JSONDocument, place: String) throws(Failure) {
        guard case .table(let members) = entry.value else {
            throw Failure(.usage, "\(place): expected a table, [\(Printable.text(entry.key))], with a timer in it")
        }
        let json = try JSONWriter.object { (writer) throws(Failure) in
            if !members.contains(where: { $0.key == "id" }) { writer.member("id", text: entry.key) }
            for member in members { try member.write(to: &writer, place: place) }
        }
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
