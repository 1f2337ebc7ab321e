import TimerCore
import WireJSON

/// Reads what comes with a command.
enum CommandBody {
    /// The target of a `reschedule`: `{"after": D}` or `{"at": T}`.
    ///
    /// - Parameter ignored: further members that are somebody else's.
    static func target(
        _ document: JSONDocument, _ node: JSONNode, ignored: Set<String> = []
    ) throws(Problem) -> RescheduleTarget {
        guard document.kind(node) == .object else {
            throw Problem(.invalidRequest, "the body must be a JSON object", pointer: document.pointer(to: node))
        }
        var after: Int64?
        var at: Int64?
        var member = document.firstChild(node)
        while let field = member {
            let reader = FieldReader(document, field)
            let name = String(decoding: document.keyBytes(field), as: UTF8.self)
            switch name {
            case "after": after = try reader.duration()
            case "at": at = try reader.instant()
            case _ where ignored.contains(name): break
            default:
                throw Problem(
                    .unknownField, "a reschedule has no field `\(name)`", pointer: document.pointer(to: field))
            }
            member = document.next(field)
        }
        switch (after, at) {
        case (let delay?, nil): return .after(delay)
        case (nil, let instant?): return .at(instant)
        default: throw Problem(.invalidRequest, "a reschedule takes either `after` or `at`", pointer: "")
        }
    }

    /// Checks that a command that takes nothing got nothing: no members.
    static func requireEmpty(_ document: JSONDocument) throws(Problem) {
        guard document.kind(document.root) == .object else {
            throw Problem(.invalidRequest, "the body must be empty or {}", pointer: "")
        }
        if let member = document.firstChild(document.root) {
            let name = String(decoding: document.keyBytes(member), as: UTF8.self)
            throw Problem(
                .unknownField, "this command has no field `\(name)`", pointer: document.pointer(to: member))
        }
    }
}

/// Reads conditions on versions.
enum Conditions {
    /// What an `If-Match` value asks for. Weak tags never match (RFC 9110, 13.1.1).
    static func ifMatch(_ text: ArraySlice<UInt8>) -> VersionCondition {
        if text.elementsEqual("*".utf8) { return .exists }
        return .oneOf(tags(text).compactMap(version))
    }

    /// The versions at which an `If-None-Match` value keeps a change from being made; weak tags count as their strong ones.
    static func ifNoneMatch(_ text: ArraySlice<UInt8>) -> VersionCondition {
        if text.elementsEqual("*".utf8) { return .exists }
        return .oneOf(tags(text).compactMap { version(strong($0)) })
    }

    /// Whether an `If-None-Match` value names `version`; weak tags count as their strong ones (RFC 9110, 13.1.2).
    static func ifNoneMatch(_ text: ArraySlice<UInt8>, names version: Int64) -> Bool {
        ifNoneMatch(text) { Self.version($0) == version }
    }

    /// Whether an `If-None-Match` value names the entity tag `tag`; weak tags count as their strong ones.
    static func ifNoneMatch(_ text: ArraySlice<UInt8>, names tag: String) -> Bool {
        ifNoneMatch(text) { $0.elementsEqual(tag.utf8) }
    }

    private static func ifNoneMatch(_ text: ArraySlice<UInt8>, isNamed: (ArraySlice<UInt8>) -> Bool) -> Bool {
        if text.elementsEqual("*".utf8) { return true }
        return tags(text).contains { isNamed(strong($0)) }
    }

    private static func tags(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        text.split(separator: UInt8(ascii: ",")).map(trimmed)
    }

    private static func strong(_ tag: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        tag.starts(with: "W/".utf8) ? tag.dropFirst(2) : tag
    }

    /// The version that the entity tag `"v7"` stands for.
    private static func version(_ tag: ArraySlice<UInt8>) -> Int64? {
        guard tag.count > 3, tag.starts(with: "\"v".utf8), tag.last == UInt8(ascii: "\"") else { return nil }
        return plainVersion(tag.dropFirst().dropLast())
    }

    /// The version that `v7` stands for.
    static func plainVersion(_ text: ArraySlice<UInt8>) -> Int64? {
        guard text.first == UInt8(ascii: "v"), text.count == 2 || text.dropFirst().first != UInt8(ascii: "0") else {
            return nil
        }
        return EventID.parse(text.dropFirst())
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while text.first == UInt8(ascii: " ") || text.first == UInt8(ascii: "\t") { text.removeFirst() }
        while text.last == UInt8(ascii: " ") || text.last == UInt8(ascii: "\t") { text.removeLast() }
        return text
    }

    /// Most bytes of an entity tag.
    static let longestTag = "\"v\(Int64.max)\"".utf8.count

    /// Appends the entity tag of a version, at most ``longestTag`` bytes.
    static func appendTag(_ version: Int64, to text: inout OutputSpan<UInt8>) {
        text.append(UInt8(ascii: "\""))
        text.append(UInt8(ascii: "v"))
        text.appendDecimal(version)
        text.append(UInt8(ascii: "\""))
    }
}
