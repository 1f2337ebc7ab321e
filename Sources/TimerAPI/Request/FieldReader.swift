import Primitives
import TimerCore
import WireJSON

/// Reads the value of one field; problems carry the field's JSON pointer.
struct FieldReader {
    private let document: JSONDocument
    private let node: JSONNode

    init(_ document: JSONDocument, _ node: JSONNode) {
        self.document = document
        self.node = node
    }

    /// Whether the value is `null`, which means absent.
    var isNull: Bool { document.kind(node) == .null }

    func invalid(_ detail: String, _ kind: ProblemKind = .invalidRequest) -> Problem {
        Problem(kind, detail, pointer: document.pointer(to: node))
    }

    /// Reads a string's bytes.
    func text() throws(Problem) -> [UInt8]? { try isAbsent() ? nil : document.string(node) }

    /// Returns an array that holds a string's bytes, and their place in it.
    private func place() throws(Problem) -> (bytes: [UInt8], range: Range<Int>)? {
        try isAbsent() ? nil : document.stringPlace(node)
    }

    /// Whether the value is `null`; refuses one that is no string.
    private func isAbsent() throws(Problem) -> Bool {
        if isNull { return true }
        guard document.kind(node) == .string else { throw invalid("this must be a string") }
        return false
    }

    /// Reads a string.
    func string() throws(Problem) -> String? { try text().map { String(decoding: $0, as: UTF8.self) } }

    /// Reads a duration in milliseconds.
    ///
    /// - Parameter kind: the kind of problem that an unreadable duration is.
    func duration(_ kind: ProblemKind = .invalidSchedule, atLeast minimum: Int64 = 0) throws(Problem) -> Int64? {
        var isInDays = false
        return try duration(kind, atLeast: minimum, isInDays: &isInDays)
    }

    /// Reads a duration in milliseconds, and whether it is written with days or weeks.
    func duration(
        _ kind: ProblemKind = .invalidSchedule, atLeast minimum: Int64 = 0, isInDays: inout Bool
    ) throws(Problem) -> Int64? {
        guard let (bytes, range) = try place() else { return nil }
        isInDays = DurationText.isInDays(bytes[range])
        do throws(TextError) {
            let value = try DurationText.parse(bytes, range)
            guard value >= minimum else { throw TextError(message: "the least here is \(minimum)ms") }
            return value
        } catch {
            throw invalid(error.message, kind)
        }
    }

    /// Reads the name of a calendar.
    func calendarName() throws(Problem) -> CalendarName? {
        guard let text = try text() else { return nil }
        guard let name = CalendarName(text) else { throw invalid(CalendarFields.nameRule) }
        return name
    }

    /// Reads an instant in wall milliseconds.
    ///
    /// - Parameter kind: the kind of problem that an unreadable instant is.
    func instant(_ kind: ProblemKind = .invalidSchedule) throws(Problem) -> Int64? {
        guard let (bytes, range) = try place() else { return nil }
        do throws(TextError) { return try RFC3339.parse(bytes, range) } catch { throw invalid(error.message, kind) }
    }

    /// Reads an array of instants in wall milliseconds.
    func instants(atMost limit: Int) throws(Problem) -> [Int64]? {
        if isNull { return nil }
        guard document.kind(node) == .array else {
            throw invalid("this must be an array of instants", .invalidSchedule)
        }
        var instants: [Int64] = []
        for element in document.children(of: node) {
            guard let instant = try FieldReader(document, element).instant() else {
                throw FieldReader(document, element).invalid("this must be an instant", .invalidSchedule)
            }
            guard instants.count < limit else { throw invalid("at most \(limit) instants", .invalidSchedule) }
            instants.append(instant)
        }
        return instants
    }

    /// Reads a whole number of at least one.
    func count() throws(Problem) -> Int64? {
        if isNull { return nil }
        guard document.kind(node) == .number, let value = document.integer(node), value >= 1 else {
            throw invalid("this must be a whole number of at least 1")
        }
        return value
    }

    /// Reads a number, as the nearest `Double`.
    func number() throws(Problem) -> Double? {
        if isNull { return nil }
        guard let value = document.number(node) else { throw invalid("this must be a number") }
        return value
    }

    func flag() throws(Problem) -> Bool? {
        switch document.kind(node) {
        case .null: return nil
        case .true: return true
        case .false: return false
        default: throw invalid("this must be true or false")
        }
    }

    /// Reads one of some words.
    func choice<Value>(_ choices: [(name: StaticString, Value)]) throws(Problem) -> Value? {
        guard let text = try text() else { return nil }
        for (name, value) in choices where text.span.equals(name, in: 0..<text.count) { return value }
        throw invalid("this must be one of \(choices.map { "`\($0.0)`" }.joined(separator: ", "))")
    }

    func timerID() throws(Problem) -> [UInt8]? {
        guard let text = try text() else { return nil }
        guard TimerID.isValid(text) else {
            throw invalid("an id is 1 to 128 of A-Z a-z 0-9 . _ ~ - and none of `.` `..` `batch` `bulk`")
        }
        return text
    }

    func labels() throws(Problem) -> [UInt8] {
        if isNull { return [] }
        guard document.kind(node) == .object else { throw invalid("labels are an object of strings") }
        var encoded: [UInt8] = []
        var count = 0
        var member = document.firstChild(node)
        while let label = member {
            count += 1
            let key = document.keyBytes(label)
            let reader = FieldReader(document, label)
            guard Self.isLabelKey(key) else {
                throw reader.invalid("a label's key is 1 to 63 of A-Z a-z 0-9 . _ / -")
            }
            guard document.kind(label) == .string else { throw reader.invalid("a label's value must be a string") }
            let value = document.string(label)
            guard value.count <= APILimits.labelValueBytes else {
                throw reader.invalid("a label's value has at most \(APILimits.labelValueBytes) bytes")
            }
            // No query could filter by such a value.
            guard !value.contains(0) else { throw reader.invalid("a label's value can't hold a NUL") }
            Definition.appendLabel(key: key.span, value: value.span, to: &encoded)
            member = document.next(label)
        }
        guard count <= APILimits.labels else { throw invalid("a timer has at most \(APILimits.labels) labels") }
        return encoded
    }

    /// Reads labels, each in encoded form.
    func labelList() throws(Problem) -> [[UInt8]] {
        let encoded = try labels()
        var list: [[UInt8]] = []
        var offset = 0
        var start = 0
        while Definition.nextLabel(encoded.span, &offset, end: encoded.count) != nil {
            list.append(Array(encoded[start..<offset]))
            start = offset
        }
        return list
    }

    static func isLabelKey(_ key: [UInt8]) -> Bool {
        guard !key.isEmpty && key.count <= APILimits.labelKeyBytes else { return false }
        return key.allSatisfy { byte in
            Alphanumeric.contains(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "-")
        }
    }

    func payload() throws(Problem) -> ArraySlice<UInt8> {
        if isNull { return [] }
        let bytes = document.compactSlice(node)
        guard bytes.count <= APILimits.payloadBytes else {
            throw invalid("a payload has at most 64 KiB", .tooLarge)
        }
        return bytes
    }
}

extension JSONDocument {
    /// Returns the members of a request's body, or of an object in it.
    ///
    /// - Throws: where `node` is no object.
    func members(of node: JSONNode) throws(Problem) -> [JSONNode] {
        guard kind(node) == .object else {
            throw Problem(.invalidRequest, "the body must be a JSON object", pointer: pointer(to: node))
        }
        return children(of: node)
    }
}

extension Problem {
    /// Makes the problem with a member that `owner` does not have.
    ///
    /// - Parameter names: the members that `owner` has; one that differs in case or signs alone is suggested.
    init(noField field: JSONNode, of owner: String, _ document: JSONDocument, among names: [String]) {
        func letters(_ name: String) -> String { name.lowercased().filter { $0 != "_" && $0 != "-" } }
        let name = String(decoding: document.keyBytes(field), as: UTF8.self)
        // A long name would be compared for nothing.
        let given = name.utf8.count <= Self.mostLetters ? letters(name) : ""
        let meant = names.first { letters($0) == given }.map { ": did you mean `\($0)`?" } ?? ""
        self.init(.unknownField, "\(owner) has no field `\(name)`\(meant)", pointer: document.pointer(to: field))
    }

    /// More bytes than any field's name has.
    private static let mostLetters = 32
}
