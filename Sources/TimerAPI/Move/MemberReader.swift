import TimerCore
import WireJSON

/// Reads the members of an object whose names are known; problems carry their JSON pointers.
struct MemberReader {
    let document: JSONDocument
    let node: JSONNode

    init(_ document: JSONDocument, _ node: JSONNode) {
        self.document = document
        self.node = node
    }

    /// Refuses members of other names.
    func allow(_ names: Set<String>) throws(Problem) {
        for field in document.children(of: node) {
            let name = String(decoding: document.keyBytes(field), as: UTF8.self)
            guard names.contains(name) else {
                throw Problem(.unknownField, "there is no field `\(name)` here", pointer: document.pointer(to: field))
            }
        }
    }

    /// Makes a problem with the member `name`, whether it is there or not.
    func invalid(_ name: StaticString, _ detail: String) -> Problem {
        let base = document.pointer(to: node)
        return Problem(.invalidRequest, detail, pointer: "\(base)/\(name)")
    }

    /// Returns the value of the member `name`; nil if it is absent or null.
    func value(_ name: StaticString) -> JSONNode? {
        document.member(node, name).flatMap { document.kind($0) == .null ? nil : $0 }
    }

    /// Returns a reader of the object that the member `name` is.
    func object(_ name: StaticString) throws(Problem) -> MemberReader {
        guard let value = value(name), document.kind(value) == .object else {
            throw invalid(name, "`\(name)` must be an object")
        }
        return MemberReader(document, value)
    }

    func text(_ name: StaticString) throws(Problem) -> String? {
        guard let value = value(name) else { return nil }
        return try FieldReader(document, value).string()
    }

    func flag(_ name: StaticString) throws(Problem) -> Bool? {
        guard let value = value(name) else { return nil }
        return try FieldReader(document, value).flag()
    }

    func instant(_ name: StaticString) throws(Problem) -> Int64? {
        guard let value = value(name) else { return nil }
        return try FieldReader(document, value).instant()
    }

    func instants(_ name: StaticString, atMost limit: Int) throws(Problem) -> [Int64]? {
        guard let value = value(name) else { return nil }
        return try FieldReader(document, value).instants(atMost: limit)
    }

    func requiredInstant(_ name: StaticString) throws(Problem) -> Int64 {
        guard let instant = try instant(name) else { throw invalid(name, "`\(name)` is needed") }
        return instant
    }

    func duration(_ name: StaticString) throws(Problem) -> Int64? {
        guard let value = value(name) else { return nil }
        return try FieldReader(document, value).duration(.invalidRequest)
    }

    func integer(_ name: StaticString, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        guard let value = value(name) else { return nil }
        guard document.kind(value) == .number, let number = document.integer(value), range.contains(number) else {
            throw invalid(name, "this must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func required(_ name: StaticString, in range: ClosedRange<Int64>) throws(Problem) -> Int64 {
        guard let number = try integer(name, in: range) else { throw invalid(name, "`\(name)` is needed") }
        return number
    }

    /// Reads one of some values, by their names.
    func choice<Value>(_ name: StaticString, _ choices: [(StaticString, Value)]) throws(Problem) -> Value? {
        guard let value = value(name) else { return nil }
        return try FieldReader(document, value).choice(choices.map { ($0.0, $0.1) })
    }
}
